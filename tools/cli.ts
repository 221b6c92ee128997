// `npm run cli -- <command>`: passes its arguments to the operators' CLI (apps/monolith/src/cli.ts). If the CLI was never built,
// it is built first. The output of the build goes to stderr, because the stdout of a command contains only its result.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { build, ROOT } from './local/build.ts';
import { explain } from './local/trouble.ts';

const program = path.join(ROOT, 'dist/apps/monolith/src/cli.js');

try {
  if (!existsSync(program)) await build({ say: (line) => void process.stderr.write(`${line}\n`), serverOnly: true });
  const child = spawn(process.execPath, ['--enable-source-maps', program, ...process.argv.slice(2)], { stdio: 'inherit' });
  // On a signal the CLI finishes its current batch. The process of this file only passes the signal on and waits for the CLI.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)));
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
}
