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

test('who comes second is told the pid of the first', async () => {
  expect(await takeLock(file)).toHaveProperty('release');
  expect(await takeLock(file)).toEqual({ heldBy: thisProcess() });
});

test('a released lock is gone and can be taken again', async () => {
  const lock = await waitForLock(file, () => undefined);
  lock.release();
  expect(existsSync(file)).toBe(false);
  expect(await takeLock(file)).toHaveProperty('release');
});

test('a pid that by now belongs to another process holds nothing', async () => {
  writeFileSync(file, JSON.stringify({ pid: process.pid, startedAt: 'long ago' }));
  expect(await takeLock(file)).toHaveProperty('release');
});

test.each(['', '{"pid": 12', '[]'])('the half-written lock %j holds nothing', async (text) => {
  writeFileSync(file, text);
  expect(await takeLock(file)).toHaveProperty('release');
});

test('two find the lock of a dead owner: exactly one gets it', async () => {
  writeFileSync(file, JSON.stringify({ pid: 1, startedAt: 'long ago' }));
  const other = identify(process.ppid)!;
  const results = await Promise.all([takeLock(file), takeLock(file, other)]);
  expect(results.filter((result) => 'release' in result)).toHaveLength(1);
});
