import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import pg from 'pg';
import { setTimeout as pause } from 'node:timers/promises';
import { Leadership } from './leadership.ts';

let database: TestDatabase;
let observer: pg.Client;
const opened: Leadership[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  observer = new pg.Client({ connectionString: database.url });
  await observer.connect();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((candidate) => candidate.giveUp()));
});
afterAll(async () => {
  await observer.end();
  await database.close();
});

function openCandidate(task = 'a', silenceTimeoutSeconds?: number): Leadership {
  const candidate = new Leadership(database.url, task, silenceTimeoutSeconds);
  opened.push(candidate);
  return candidate;
}
const leading = (candidates: readonly Leadership[]) => Promise.all(candidates.map((candidate) => candidate.isLeader()));

test('exactly one of three processes is the leader, and it stays the leader', async () => {
  const three = [openCandidate(), openCandidate(), openCandidate()];
  const first = await leading(three);
  expect(first.filter(Boolean)).toHaveLength(1);
  expect(await leading(three)).toEqual(first);
});

test('two tasks may have different leaders at the same time', async () => {
  expect(await leading([openCandidate('a'), openCandidate('b')])).toEqual([true, true]);
});

test('after the leader has called `giveUp`, another candidate becomes the leader', async () => {
  const [a, b] = [openCandidate(), openCandidate()];
  expect([await a.isLeader(), await b.isLeader()]).toEqual([true, false]);
  await a.giveUp();
  expect([await b.isLeader(), await a.isLeader()]).toEqual([true, false]);
});

test('a leader that has lost its connection learns this at its next check, and another candidate becomes the leader', async () => {
  const [a, b] = [openCandidate(), openCandidate()];
  await a.isLeader();
  await observer.query(
    `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
     and database = (select oid from pg_database where datname = current_database())`,
  );
  for (let tries = 0; tries < 100 && !(await b.isLeader()); tries += 1) await pause(10);
  expect([await b.isLeader(), await a.isLeader(), await a.isLeader()]).toEqual([true, false, false]);
  await b.giveUp();
  expect(await a.isLeader()).toBe(true);
});

test('a leader that sends no statement for longer than the timeout loses its lock, and learns this at its next check', async () => {
  const [a, b] = [openCandidate('a', 1), openCandidate('a', 1)];
  expect([await a.isLeader(), await b.isLeader()]).toEqual([true, false]);
  await pause(600);
  expect([await a.isLeader(), await b.isLeader()]).toEqual([true, false]);
  await pause(1300);
  expect([await b.isLeader(), await a.isLeader()]).toEqual([true, false]);
});

test('with an unreachable database isLeader throws instead of returning true', async () => {
  const nowhere = new Leadership('postgres://nobody@127.0.0.1:1/nothing', 'a');
  await expect(nowhere.isLeader()).rejects.toThrow('ECONNREFUSED');
});
