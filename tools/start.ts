// `npm start [-- --reset]`, `npm run dev`: the whole system on this machine.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { LineWriter } from './local/line-writer.ts';
import { explain, Trouble } from './local/trouble.ts';

const HELP = `Usage: npm start [-- --reset] [-- --watch]

Starts PostgreSQL, Redis, the three services and the web app on this machine, and stops them all on Ctrl-C.

  --reset   removes the data of earlier runs first
  --watch   builds and starts the services again when a source file changes (the same as \`npm run dev\`)
  --help    prints this

Settings (environment): TRIBINA_HOME (.tribina) where the data is kept; MONOLITH_PORT (3000), QUEUE_PORT (3001), WORKER_PORT
(3002); BIND_HOST (127.0.0.1); DATABASE_URL and REDIS_URL to use servers of your own. All of them: docs/reference/env.md`;

const out = new LineWriter(1);
const err = new LineWriter(2);
const stop = new AbortController();

function onSignal(): void {
  if (stop.signal.aborted) return out.write('already stopping: the services have up to 20 s to finish what they are at');
  stop.abort(new Error('told to stop'));
}

/** Ctrl-C arrives here twice: from the terminal and passed on by the launcher. The echo is not worth a word. */
let lastSignalAt = 0;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    const isEcho = Date.now() - lastSignalAt < 300;
    lastSignalAt = Date.now();
    if (!isEcho) onSignal();
  });
}

/** The launcher (tools/node24.mjs) was killed outright: nobody is left who could pass a signal on. */
const launcher = process.ppid;
setInterval(() => process.ppid !== launcher && stop.abort(), 1_000).unref();

let isBroken = false;
process.on('uncaughtException', (error) => {
  err.write(explain(error));
  isBroken = true;
  stop.abort(error);
});

function readOptions(): { reset: boolean; watch: boolean; help: boolean } {
  const flag = { type: 'boolean', default: false } as const;
  try {
    return parseArgs({ options: { reset: flag, watch: flag, help: flag } }).values;
  } catch (error) {
    throw new Trouble((error as Error).message, HELP, 2);
  }
}

async function main(): Promise<number> {
  try {
    const { help, ...options } = readOptions();
    if (help) {
      out.write(HELP);
      return 0;
    }
    if (!existsSync(path.join(import.meta.dirname, '../node_modules/pg')))
      throw new Trouble('The dependencies are missing.', 'Run `npm ci` first.');
    // Loaded only now: it needs those dependencies.
    const { runSystem } = await import('./local/system.ts');
    await runSystem({ ...options, stop: stop.signal, say: (line) => out.write(line) });
    return isBroken ? 1 : 0;
  } catch (error) {
    err.write(explain(error));
    return error instanceof Trouble ? error.exitCode : 1;
  }
}

const code = await main();
const read = await Promise.all([out.flush(1_000), err.flush(1_000)]);
// A write that nobody reads holds up a normal exit for ever; by now there is nothing left to lose.
if (read.includes(false)) process.kill(process.pid, 'SIGKILL');
process.exit(code);
