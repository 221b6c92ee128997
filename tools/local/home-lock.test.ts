import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { takeLock, thisProcess, waitForLock } from './home-lock.ts';
import { identify } from './processes.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'tribina-lock-'));
  file = path.join(folder, 'lock');
});
afterEach(() => rmSync(folder, { recursive: true }));

test('takeLock: a second process that tries to take the lock gets the identity of the owner', async () => {
  expect(await takeLock(file)).toHaveProperty('release');
  expect(await takeLock(file)).toEqual({ heldBy: thisProcess() });
});

test('releasing a lock removes its file, and the lock can be taken again', async () => {
  const lock = await waitForLock(file, () => undefined);
  lock.release();
  expect(existsSync(file)).toBe(false);
  expect(await takeLock(file)).toHaveProperty('release');
});

test('a lock file whose pid now belongs to another process can be taken over', async () => {
  writeFileSync(file, JSON.stringify({ pid: process.pid, startedAt: 'long ago' }));
  expect(await takeLock(file)).toHaveProperty('release');
});

test.each(['', '{"pid": 12', '[]'])('an incomplete lock file %j can be taken over', async (text) => {
  writeFileSync(file, text);
  expect(await takeLock(file)).toHaveProperty('release');
});

test('if two processes find the lock file of a dead process, exactly one of them gets the lock', async () => {
  writeFileSync(file, JSON.stringify({ pid: 1, startedAt: 'long ago' }));
  const other = identify(process.ppid)!;
  const results = await Promise.all([takeLock(file), takeLock(file, other)]);
  expect(results.filter((result) => 'release' in result)).toHaveLength(1);
});
