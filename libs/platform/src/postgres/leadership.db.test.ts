import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import pg from 'pg';
import { setTimeout as pause } from 'node:timers/promises';
import { Leadership } from './leadership.ts';

let database: TestDatabase;
let onlooker: pg.Client;
const all: Leadership[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  onlooker = new pg.Client({ connectionString: database.url });
  await onlooker.connect();
});
afterEach(async () => {
  await Promise.all(all.splice(0).map((one) => one.giveUp()));
});
afterAll(async () => {
  await onlooker.end();
  await database.drop();
});

function candidate(what = 'a', silenceSeconds?: number): Leadership {
  const one = new Leadership(database.url, what, silenceSeconds);
  all.push(one);
  return one;
}
const leading = (candidates: readonly Leadership[]) => Promise.all(candidates.map((one) => one.isMine()));

test('one of all leads, and stays it', async () => {
  const three = [candidate(), candidate(), candidate()];
  const first = await leading(three);
  expect(first.filter(Boolean)).toHaveLength(1);
  expect(await leading(three)).toEqual(first);
});

test('different things have different leaders', async () => {
  expect(await leading([candidate('a'), candidate('b')])).toEqual([true, true]);
});

test('given up, it is somebody else’s', async () => {
  const [a, b] = [candidate(), candidate()];
  expect([await a.isMine(), await b.isMine()]).toEqual([true, false]);
  await a.giveUp();
  expect([await b.isMine(), await a.isMine()]).toEqual([true, false]);
});

test('whose connection is gone notices it before the next round, and another goes on', async () => {
  const [a, b] = [candidate(), candidate()];
  await a.isMine();
  await onlooker.query(
    `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
     and database = (select oid from pg_database where datname = current_database())`,
  );
  for (let tries = 0; tries < 100 && !(await b.isMine()); tries += 1) await pause(10);
  expect([await b.isMine(), await a.isMine(), await a.isMine()]).toEqual([true, false, false]);
  await b.giveUp();
  expect(await a.isMine()).toBe(true);
});

test('one that is frozen leads no more, and learns it when it wakes', async () => {
  const [a, b] = [candidate('a', 1), candidate('a', 1)];
  expect([await a.isMine(), await b.isMine()]).toEqual([true, false]);
  await pause(600);
  expect([await a.isMine(), await b.isMine()]).toEqual([true, false]);
  await pause(1300);
  expect([await b.isMine(), await a.isMine()]).toEqual([true, false]);
});

test('without a database nobody leads, and that is said', async () => {
  const nowhere = new Leadership('postgres://nobody@127.0.0.1:1/nothing', 'a');
  await expect(nowhere.isMine()).rejects.toThrow('ECONNREFUSED');
});
