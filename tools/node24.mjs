// Runs a script with Node 24.9 or newer: with the current Node if it is new enough, else with the binary that `npm ci` installed.
// This file is plain JavaScript that Node 20 can run. Usage: node tools/node24.mjs <script> [args]
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';

const NEEDED = [24, 9];

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
}

function findNode() {
  if (isNewEnough(process.versions.node)) return process.execPath;
  const require = createRequire(import.meta.url);
  try {
    const manifest = require.resolve(`node-${process.platform}-${process.arch}/package.json`);
    return path.join(path.dirname(manifest), 'bin', 'node');
  } catch {
    return undefined;
  }
}

const node = findNode();
if (!node) {
  console.error(
    `Tribina needs Node ${NEEDED.join('.')} or newer. This is Node ${process.versions.node} on ${process.platform}-${process.arch}, ` +
      'and the Node that `npm ci` installs is missing: run `npm ci` again without --omit=optional, or install Node 24.',
  );
  process.exit(1);
}

const child = spawn(node, process.argv.slice(2), {
  stdio: 'inherit',
  env: { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH ?? ''}` },
});
// Ctrl-C reaches the child by itself, because it shares the terminal. A signal sent only to this process is passed on here.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
// A killed npm (SIGKILL) passes no signal on, and the child would run for ever. So if npm started this process and has ended, the
// child is stopped.
if (process.env.npm_lifecycle_event) {
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), 1_000).unref();
}
child.on('error', (error) => {
  console.error(`Could not start ${node}: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)));
