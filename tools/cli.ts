// `npm run cli -- <command>`: hands its arguments to the operators' program (apps/monolith/src/cli.ts), which is built first
// if it never was. What is printed here goes to stderr: a command's stdout is its result alone.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { build, ROOT } from './local/build.ts';
import { explain } from './local/trouble.ts';

const program = path.join(ROOT, 'dist/apps/monolith/src/cli.js');

try {
  if (!existsSync(program)) await build({ say: (line) => void process.stderr.write(`${line}\n`), serverOnly: true });
  const child = spawn(process.execPath, ['--enable-source-maps', program, ...process.argv.slice(2)], { stdio: 'inherit' });
  // The program finishes its batch on a signal; we only have to outlive it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)));
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
}
