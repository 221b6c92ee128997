// `npm start [-- --reset]` and `npm run dev`: run the whole system on this machine.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { INSPECTOR_PORTS, readInspectorPorts } from './local/inspector.ts';
import { LineWriter } from './local/line-writer.ts';
import { explain, UserError } from './local/trouble.ts';

const HELP = `Usage: npm start [-- --reset] [-- --watch] [-- --inspect <service>]

Starts PostgreSQL, Redis, the three services and the web app on this machine, and stops them all on Ctrl-C.

  --reset     removes the data of earlier runs first
  --watch     builds and restarts the services when a source file changes (the same as \`npm run dev\`)
  --inspect <service>[:<port>]
              lets a debugger attach to a service on 127.0.0.1. May be repeated. Services and ports:
              ${[...INSPECTOR_PORTS].map(([name, port]) => `${name} ${port}`).join(', ')}
  --help      prints this help

Settings (environment variables, with their defaults): TRIBINA_HOME (.tribina), the folder for the data; MONOLITH_PORT (3000);
QUEUE_PORT (3001); WORKER_PORT (3002); BIND_HOST (127.0.0.1; any other
address also needs ALLOW_MOCK_ON_NETWORK=true); DATABASE_URL and REDIS_URL, to use your own servers. All settings:
docs/reference/env.md`;

const out = new LineWriter(1);
const err = new LineWriter(2);
const stop = new AbortController();

/**
 * When the last signal arrived. A Ctrl-C arrives twice: from the terminal, and from the launcher (tools/node24.mjs), which passes
 * it on. A signal within 300 ms after the one before it is ignored.
 */
let lastSignalAt = 0;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    const isDuplicate = Date.now() - lastSignalAt < 300;
    lastSignalAt = Date.now();
    if (isDuplicate) return;
    if (stop.signal.aborted) out.write('already stopping: the services have up to 20 s to finish their work');
    stop.abort(new Error('stopped by a signal'));
  });
}

/** Stops the system if the launcher (tools/node24.mjs) was killed, because then no signal can arrive through it any more. */
const launcher = process.ppid;
setInterval(() => process.ppid !== launcher && stop.abort(), 1_000).unref();

let isBroken = false;
process.on('uncaughtException', (error) => {
  err.write(explain(error));
  isBroken = true;
  stop.abort(error);
});

function readOptions() {
  const flag = { type: 'boolean', default: false } as const;
  const inspect = { type: 'string', multiple: true, default: [] as string[] } as const;
  try {
    return parseArgs({ options: { reset: flag, watch: flag, help: flag, inspect } }).values;
  } catch (error) {
    throw new UserError((error as Error).message, HELP, 2);
  }
}

async function main(): Promise<number> {
  try {
    const { help, inspect, ...options } = readOptions();
    const inspectorPorts = readInspectorPorts(inspect);
    if (help) {
      out.write(HELP);
      return 0;
    }
    if (!existsSync(path.join(import.meta.dirname, '../node_modules/pg')))
      throw new UserError('The dependencies are missing.', 'Run `npm ci` first.');
    // Imported only after the check that the dependencies are installed, because system.ts needs them.
    const { runSystem } = await import('./local/system.ts');
    await runSystem({ ...options, inspectorPorts, stop: stop.signal, say: (line) => out.write(line) });
    return isBroken ? 1 : 0;
  } catch (error) {
    err.write(explain(error));
    return error instanceof UserError ? error.exitCode : 1;
  }
}

const code = await main();
const flushed = await Promise.all([out.flush(1_000), err.flush(1_000)]);
// Output that no reader takes would block a normal exit for ever. All work is done, so the process can kill itself.
if (flushed.includes(false)) process.kill(process.pid, 'SIGKILL');
process.exit(code);
