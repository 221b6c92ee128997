import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { emptyHome, endLeftovers, openHome, readPorts, rememberPorts, writeRuntime } from './home.ts';
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

test('a home is made with the folders above it', () => {
  const home = openHome(path.join(folder, 'a/b/.tribina'));
  expect(statSync(home.folder).isDirectory()).toBe(true);
});

test('a home that is a file, or lies where nothing can be made, is refused in one sentence', () => {
  writeFileSync(path.join(folder, 'file'), '');
  expect(() => openHome(path.join(folder, 'file/home'))).toThrow(/file\/home (is not a folder|cannot be made)/);
  expect(() => openHome('/proc/tribina')).toThrow('/proc/tribina cannot be made.');
});

test('emptying it removes what is ours and nothing else', () => {
  const home = openHome(folder);
  mkdirSync(home.postgres);
  mkdirSync(home.redis);
  writeFileSync(path.join(folder, 'diary.txt'), 'mine');
  emptyHome(home);
  expect([existsSync(home.postgres), existsSync(home.redis)]).toEqual([false, false]);
  expect(readFileSync(path.join(folder, 'diary.txt'), 'utf8')).toBe('mine');
});

test('ports are remembered one by one, also after the file was spoilt', () => {
  const home = openHome(folder);
  writeFileSync(home.ports, '{"postgres": 4');
  rememberPorts(home, { postgres: 40_001 });
  rememberPorts(home, { redis: 40_002 });
  expect(readPorts(home)).toEqual({ postgres: 40_001, redis: 40_002 });
});

test('runtime.json holds passwords and is for its owner only', () => {
  const home = openHome(folder);
  writeRuntime(home, runtimeWith({}));
  expect((statSync(home.runtime).mode & 0o777).toString(8)).toBe('600');
});

test('services left behind are ended; a process that only inherited a pid is not', async () => {
  const home = openHome(folder);
  const left = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  const gone = once(left, 'exit');
  const identity = identify(left.pid!)!;
  writeRuntime(home, runtimeWith({ monolith: identity, 'queue-service': { pid: process.pid, startedAt: 'long ago' } }));
  const said: string[] = [];
  await endLeftovers(home, (line) => said.push(line));
  await gone;
  expect(said).toEqual([`ending the monolith left over from before (pid ${left.pid})`]);
  expect(existsSync(home.runtime)).toBe(false);
});
