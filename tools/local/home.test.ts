import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { clearHome, endLeftovers, prepareHome, readPorts, rememberPorts, writeRuntime } from './home.ts';
import { thisProcess } from './home-lock.ts';
import { identify, type ProcessIdentity } from './processes.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), 'tribina-home-'))));
afterEach(() => rmSync(folder, { recursive: true }));

function runtimeWith(processes: Record<string, ProcessIdentity>) {
  return {
    supervisor: thisProcess(),
    pids: {},
    urls: { web: 'http://x' },
    DATABASE_URL: 'postgres://secret',
    REDIS_URL: 'redis://x',
    processes,
  };
}

test('prepareHome creates the home folder and its parent folders', () => {
  const home = prepareHome(path.join(folder, 'a/b/.tribina'));
  expect(statSync(home.folder).isDirectory()).toBe(true);
});

test('prepareHome throws a clear error if the path is below a file or cannot be created', () => {
  writeFileSync(path.join(folder, 'file'), '');
  expect(() => prepareHome(path.join(folder, 'file/home'))).toThrow(/file\/home (is not a folder|cannot be made)/);
  expect(() => prepareHome('/proc/tribina')).toThrow('/proc/tribina cannot be made.');
});

test('clearHome removes the data of PostgreSQL and Redis and keeps other files', () => {
  const home = prepareHome(folder);
  mkdirSync(home.postgres);
  mkdirSync(home.redis);
  writeFileSync(path.join(folder, 'diary.txt'), 'mine');
  clearHome(home);
  expect([existsSync(home.postgres), existsSync(home.redis)]).toEqual([false, false]);
  expect(readFileSync(path.join(folder, 'diary.txt'), 'utf8')).toBe('mine');
});

test('rememberPorts saves the ports of PostgreSQL and Redis independently, even if the file was corrupt', () => {
  const home = prepareHome(folder);
  writeFileSync(home.ports, '{"postgres": 4');
  rememberPorts(home, { postgres: 40_001 });
  rememberPorts(home, { redis: 40_002 });
  expect(readPorts(home)).toEqual({ postgres: 40_001, redis: 40_002 });
});

test('runtime.json contains passwords, so only its owner can read it', () => {
  const home = prepareHome(folder);
  writeRuntime(home, runtimeWith({}));
  expect((statSync(home.runtime).mode & 0o777).toString(8)).toBe('600');
});

test('endLeftovers ends services of an earlier run, but not an unrelated process that has the same pid now', async () => {
  const home = prepareHome(folder);
  const leftover = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  const exited = once(leftover, 'exit');
  const identity = identify(leftover.pid!)!;
  writeRuntime(home, runtimeWith({ monolith: identity, 'queue-service': { pid: process.pid, startedAt: 'long ago' } }));
  const printed: string[] = [];
  await endLeftovers(home, (line) => printed.push(line));
  await exited;
  expect(printed).toEqual([`ending the monolith of an earlier run (pid ${leftover.pid})`]);
  expect(existsSync(home.runtime)).toBe(false);
});
