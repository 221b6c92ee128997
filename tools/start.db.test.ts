import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { Redis } from 'ioredis';
import type { RuntimeFile } from './local/home.ts';
import { identify } from './local/processes.ts';

// Tests of `npm start` with real databases, in a copy of the project with three tiny services instead of the real ones. They test
// which processes are started, restarted after a crash, and ended.

// Some tests start the system twice, each time with a compiler run: 3 s, and several times that on a busy machine.
jest.setTimeout(90_000);

const root = path.resolve(import.meta.dirname, '..');
const project = mkdtempSync(path.join(tmpdir(), 'tribina-start-'));
const ports = { MONOLITH_PORT: '', QUEUE_PORT: '', WORKER_PORT: '' };
const launchers: ChildProcess[] = [];

const serviceSource = (setting: string) => `
import { createServer } from 'node:http';
if (process.env.REFUSE === '${setting}') process.exit(78);
createServer((_request, response) => response.end()).listen(Number(process.env.${setting}), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));`;

const cliSource = `
const [, , command] = process.argv;
console.log('did', command, process.env.DATABASE_MIGRATION_URL ? 'as the owner' : 'as the services');
if (command === 'retention:run') setInterval(() => undefined, 60_000);
process.on('SIGTERM', () => process.exit(0));`;

beforeAll(async () => {
  chmodSync(project, 0o711); // If this runs as root, PostgreSQL runs as user nobody and must be able to enter the folder.
  for (const item of ['tools', 'tsconfig.json', 'tsconfig.build.json', 'package.json'])
    cpSync(path.join(root, item), path.join(project, item), { recursive: true });
  for (const item of ['node_modules', '.cache']) symlinkSync(path.join(root, item), path.join(project, item));
  const services = { monolith: 'MONOLITH_PORT', 'queue-service': 'QUEUE_PORT', 'notification-worker': 'WORKER_PORT' };
  for (const [name, setting] of Object.entries(services)) {
    const source = path.join(project, 'apps', name, 'src');
    mkdirSync(source, { recursive: true });
    writeFileSync(path.join(source, 'main.ts'), serviceSource(setting));
  }
  writeFileSync(path.join(project, 'apps/monolith/src/cli.ts'), cliSource);
  for (const name of Object.keys(ports) as (keyof typeof ports)[]) ports[name] = String(await findFreePort());
});

afterAll(async () => {
  for (const child of launchers) child.kill('SIGTERM');
  await Promise.all(launchers.map(async (child) => child.exitCode ?? child.signalCode ?? (await once(child, 'exit'))));
  rmSync(project, { recursive: true });
});

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

/** Runs the command of the npm script `start`. Resolves when it prints `ready` or when it ends. */
async function start(settings: NodeJS.ProcessEnv = {}, ...args: string[]) {
  const env = { ...process.env, DATABASE_URL: undefined, REDIS_URL: undefined, TRIBINA_HOME: undefined, ...ports, ...settings };
  const child = spawn('node', ['tools/node24.mjs', 'tools/start.ts', ...args], { cwd: project, env });
  launchers.push(child);
  const output = { out: '', err: '' };
  child.stdout.on('data', (data) => (output.out += data));
  child.stderr.on('data', (data) => (output.err += data));
  const ended = once(child, 'exit').then(([code]) => code as number);
  while (!/^ready /m.test(output.out) && child.exitCode === null && child.signalCode === null) await sleep(20);
  return { child, output, ended };
}

function runtime(): RuntimeFile {
  return JSON.parse(readFileSync(path.join(project, '.tribina/runtime.json'), 'utf8')) as RuntimeFile;
}

const runningPids = (pids: number[]) => pids.filter((pid) => identify(pid));

test('npm start starts all processes and prints `ready` once; SIGTERM stops them all and keeps the data', async () => {
  const first = await start();
  expect(first.output.out.match(/^ready .*/gm)).toEqual([expect.stringContaining(`http://127.0.0.1:${ports.MONOLITH_PORT}`)]);
  expect(first.output.out).toMatch(/did migrate as the owner[^]*did seed as the services[^]*did retention:run as the owner/);
  const { pids, REDIS_URL } = runtime();
  expect(Object.keys(pids).sort()).toEqual([
    'monolith',
    'notification-worker',
    'postgres',
    'queue-service',
    'redis',
    'retention',
    'supervisor',
  ]);
  expect((statSync(path.join(project, '.tribina/runtime.json')).mode & 0o777).toString(8)).toBe('600');
  const redis = new Redis(REDIS_URL);
  await redis.set('kept', 'yes');
  await redis.quit();

  first.child.kill('SIGTERM');
  expect(await first.ended).toBe(0);
  expect(runningPids(Object.values(pids))).toEqual([]);
  expect(existsSync(path.join(project, '.tribina/runtime.json'))).toBe(false);

  const second = await start();
  const redisAfter = new Redis(runtime().REDIS_URL);
  expect(await redisAfter.get('kept')).toBe('yes');
  await redisAfter.quit();
  second.child.kill('SIGINT');
  expect(await second.ended).toBe(0);
});

test('a second npm start with the same TRIBINA_HOME is refused, and the error names the pid of the first one', async () => {
  const first = await start();
  const second = await start();
  expect(await second.ended).toBe(1);
  expect(second.output.err).toContain(`is in use by process ${runtime().pids.supervisor}`);
  first.child.kill('SIGTERM');
  await first.ended;
});

test('npm start starts a killed service or database again, and a database keeps its address', async () => {
  const { child, ended } = await start();
  const before = runtime();
  for (const name of ['monolith', 'redis', 'postgres']) process.kill(before.pids[name]!, 'SIGKILL');
  const isBack = () =>
    ['monolith', 'redis', 'postgres'].every((name) => ![undefined, before.pids[name]].includes(runtime().pids[name]));
  while (!isBack()) await sleep(50);
  const after = runtime();
  const urlsOf = ({ DATABASE_URL, DATABASE_MIGRATION_URL, REDIS_URL }: RuntimeFile) => [
    DATABASE_URL,
    DATABASE_MIGRATION_URL,
    REDIS_URL,
  ];
  expect(urlsOf(after)).toEqual(urlsOf(before));
  expect(urlsOf(before)).toEqual([
    expect.stringMatching(/^postgres:\/\/tribina_services:/),
    expect.stringMatching(/^postgres:\/\/tribina:/),
    expect.stringMatching(/^redis:/),
  ]);
  child.kill('SIGTERM');
  await ended;
  expect(runningPids(Object.values(after.pids))).toEqual([]);
});

test('after kill -9 of npm start the next npm start ends the processes that were left running, and becomes ready', async () => {
  const first = await start();
  const { pids } = runtime();
  process.kill(pids.supervisor!, 'SIGKILL');
  await first.ended;
  const second = await start();
  expect(second.output.out).toMatch(/^ready /m);
  expect(runningPids(Object.values(pids))).toEqual([]);
  second.child.kill('SIGTERM');
  await second.ended;
});

test('if the port of a service is taken, the error of npm start names the port and the setting to change it', async () => {
  const server = createServer().listen(Number(ports.QUEUE_PORT), '127.0.0.1');
  await once(server, 'listening');
  const { ended, output } = await start();
  server.close();
  expect(await ended).toBe(1);
  expect(output.err.trim()).toBe(
    `Port ${ports.QUEUE_PORT}, which the queue-service needs, is taken. Stop what is using it, or set QUEUE_PORT to another port.`,
  );
  expect(output.out).toBe('');
});

test('if a service refuses its settings, npm start stops all processes and exits with 78', async () => {
  const { ended, output } = await start({ REFUSE: 'WORKER_PORT' });
  expect(await ended).toBe(78);
  expect(output.err).toContain('The notification-worker refuses its settings.');
  expect(existsSync(path.join(project, '.tribina/lock'))).toBe(false);
});

test('npm start --inspect for an unknown service starts nothing and exits with 2', async () => {
  const { ended, output } = await start({}, '--inspect', 'web');
  expect(await ended).toBe(2);
  expect(output.err.trim()).toBe(
    '--inspect: there is no service "web". The services are monolith, queue-service, notification-worker.',
  );
  expect(output.out).toBe('');
});

test('npm start --reset begins with empty databases, and --inspect opens the inspector of the named service', async () => {
  const port = await findFreePort();
  const { child, ended } = await start({}, '--reset', '--inspect', `queue-service:${port}`);
  const answer = await fetch(`http://127.0.0.1:${port}/json/version`);
  expect(await answer.json()).toMatchObject({ Browser: expect.stringMatching(/^node\.js\/v/) as string });
  const redis = new Redis(runtime().REDIS_URL);
  expect(await redis.dbsize()).toBe(0);
  await redis.quit();
  child.kill('SIGTERM');
  await ended;
});
