import { Jobs } from '#application/jobs';
import { TransactionManager } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { openMonolith, type WholeMonolith } from '../testing/whole-monolith.ts';
import { MatchSearchApi } from './catalog.api.ts';
import type { IndexMatch } from './index-match.ts';
import { MatchSearch } from './match-search.ts';
import { insertMatches } from './testing/inserted-matches.ts';

let database: TestDatabase;
let redis: TestRedis;
let monolith: WholeMonolith;

beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  monolith = await openMonolith({ DATABASE_URL: database.url, REDIS_URL: redis.url });
});
afterAll(async () => {
  await monolith.close();
  await Promise.all([database.close(), redis.close()]);
});

const rows = <T>(sql: string, values: unknown[] = []): Promise<T[]> => monolith.dataSource.query(sql, values);
const search = (): MatchSearch => monolith.get(MatchSearch);

async function found(q: string): Promise<string[]> {
  const answer = await monolith.call('GET', `/api/v1/matches?q=${encodeURIComponent(q)}`);
  return answer.json.items.map(({ home }: { home: string }) => home);
}

describe('a rebuild', () => {
  const neverStop = new AbortController().signal;
  const rebuild = (options: { restart?: boolean; onProgress?: (done: number, total: number) => void; stop?: AbortSignal } = {}) =>
    monolith.get(MatchSearchApi).rebuild({ restart: false, onProgress: () => undefined, stop: neverStop, ...options });
  /** Gives every row of the index wrong words, which no check of outdated rows can see. */
  const spoil = () => rows(`update match_search set words = 'wrong'`);
  const wrong = async (): Promise<number> => (await rows(`select 1 from match_search where words @@ 'wrong'`)).length;

  beforeEach(async () => {
    await rows('truncate jobs, outbox, matches, match_search_rebuild cascade');
    await insertMatches(monolith.dataSource, 1100);
    while ((await search().indexOutdated()) > 0);
    await spoil();
  });

  test('replaces all words and reports its progress; without it they stay wrong', async () => {
    expect([await search().indexOutdated(), await wrong()]).toEqual([0, 1100]);
    const progress: [number, number][] = [];
    const result = await rebuild({ onProgress: (...step) => progress.push(step) });
    expect(result).toEqual({ isComplete: true, continuedFrom: null, indexed: 1100 });
    expect(progress).toEqual([
      [500, 1100],
      [1000, 1100],
      [1100, 1100],
    ]);
    expect([await wrong(), await found('durdevac 1099')]).toEqual([0, ['Đurđevac 1099']]);
    expect(await rows('select 1 from match_search_rebuild')).toEqual([]);
  });

  test('that was interrupted is continued where it was, and with restart begins again', async () => {
    const stop = new AbortController();
    const first = await rebuild({ stop: stop.signal, onProgress: () => stop.abort() });
    expect([first.isComplete, first.indexed, await wrong()]).toEqual([false, 500, 600]);
    expect(await rebuild()).toMatchObject({ isComplete: true, indexed: 600, continuedFrom: { done: 500 } });
    expect(await wrong()).toBe(0);
    const again = new AbortController();
    await rebuild({ stop: again.signal, onProgress: () => again.abort() });
    await spoil();
    expect(await rebuild({ restart: true })).toEqual({ isComplete: true, continuedFrom: null, indexed: 1100 });
    expect(await wrong()).toBe(0);
  });

  test('whose process is killed in the middle of a batch is continued after the last complete batch', async () => {
    const [inSecondBatch] = await rows<{ id: string }>('select id from matches order by id offset 700 limit 1');
    const lock = monolith.dataSource.createQueryRunner();
    await lock.startTransaction();
    await lock.query('select 1 from matches where id = $1 for update', [inSecondBatch?.id]);
    const flags = ['--conditions=source', '--experimental-transform-types', '--disable-warning=ExperimentalWarning'];
    const program = path.resolve(import.meta.dirname, 'testing/rebuilding-process.ts');
    const child = spawn(process.execPath, [...flags, program, database.url], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    expect(String((await once(child.stdout, 'data'))[0])).toBe('500\n');
    child.kill('SIGKILL');
    await ended;
    await lock.rollbackTransaction();
    await lock.release();
    expect(await wrong()).toBe(600);
    expect(await rebuild()).toMatchObject({ isComplete: true, indexed: 600, continuedFrom: { done: 500 } });
    expect(await wrong()).toBe(0);
  });

  test('by two processes at once does every match once', async () => {
    // The second begins after the first batch of the first: a rebuild that begins after the end of another does all matches again.
    let second: ReturnType<typeof rebuild> | undefined;
    const first = await rebuild({ onProgress: () => (second ??= rebuild()) });
    const results = [first, await second!] as const;
    expect(results.every(({ isComplete }) => isComplete)).toBe(true);
    expect(await wrong()).toBe(0);
    expect(results[0].indexed + results[1].indexed).toBe(1100);
  });

  test('while matches are renamed leaves the words of the latest names', async () => {
    const ids = await rows<{ id: string }>('select id from matches order by id');
    const jobs = monolith.get(Jobs);
    const transactions = monolith.get(TransactionManager);
    const renames = (async () => {
      for (const { id } of ids.slice(0, 150)) {
        await transactions.run(async (tx) => {
          await inside(tx).rows(`update matches set home = 'Novo Ime' where id = $1`, [id]);
          await jobs.put<IndexMatch>(tx, [{ class: 'index_match', matchId: id }]);
        });
        await transactions.run((tx) => search().index((sql, parameters) => inside(tx).rows(sql, parameters), [id]));
      }
    })();
    let rebuilds = 0;
    let isDone = false;
    void renames.finally(() => (isDone = true));
    while (!isDone) rebuilds += (await rebuild()).isComplete ? 1 : 0;
    await renames;
    expect(rebuilds).toBeGreaterThan(1);
    const stale = await rows(
      `select 1 from match_search join matches on id = match_id where home = 'Novo Ime' and not words @@ 'novo & ime'`,
    );
    expect([stale, (await rows(`select 1 from match_search where words @@ 'novo & ime'`)).length]).toEqual([[], 150]);
  });

  test('waits for a change of a match that is not committed yet, and indexes the new name', async () => {
    const [first] = await rows<{ id: string }>('select id from matches order by id limit 1');
    const change = monolith.dataSource.createQueryRunner();
    await change.startTransaction();
    await change.query(`update matches set home = 'Kasnije' where id = $1`, [first?.id]);
    const running = rebuild();
    const first300ms = new Promise((resolve) => setTimeout(resolve, 300, 'waiting'));
    expect(await Promise.race([running, first300ms])).toBe('waiting');
    await change.commitTransaction();
    await change.release();
    await running;
    expect(await found('kasnije')).toHaveLength(1);
  });
});
