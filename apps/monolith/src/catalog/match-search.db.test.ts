import { Jobs } from '#application/jobs';
import { TransactionManager } from '#application/transaction-manager';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { JobsApi } from '../jobs/jobs.api.ts';
import { RelayApi } from '../relay/relay.api.ts';
import { callerOf } from '../testing/test-app.ts';
import { openMonolith, ops, putOnSale, type WholeMonolith } from '../testing/whole-monolith.ts';
import { createMonolith } from '../monolith.ts';
import { openResources } from '../resources.ts';
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
beforeEach(async () => {
  await redis.flush();
  await rows('truncate jobs, outbox, matches, match_search_rebuild cascade');
});
afterAll(async () => {
  await monolith.close();
  await Promise.all([database.close(), redis.close()]);
});

const rows = <T>(sql: string, values: unknown[] = []): Promise<T[]> => monolith.dataSource.query(sql, values);
const search = (): MatchSearch => monolith.get(MatchSearch);

/** Creates a match whose kick-off is `hours` from now. Returns its id. */
async function match(home: string, away: string, venue: string, hours = 48): Promise<string> {
  const kickoff_at = new Date(Date.now() + hours * 3_600_000).toISOString();
  return (await putOnSale(monolith, { home, away, venue, kickoff_at })).id;
}

const rename = (id: string, change: Record<string, unknown>) =>
  monolith.call('PATCH', `/api/v1/ops/matches/${id}`, { ...ops, body: change });

interface Found {
  items: { id: string; home: string; away: string }[];
  next_cursor: string | null;
}

async function list(query: Record<string, string>): Promise<Found> {
  const answer = await monolith.call('GET', `/api/v1/matches?${new URLSearchParams(query).toString()}`);
  expect(answer.status).toBe(200);
  return answer.json as Found;
}
const found = async (q: string): Promise<string[]> => (await list({ q })).items.map(({ home, away }) => `${home} – ${away}`);

/** Runs the background jobs that wait, as the services do. Returns how many there were. */
async function runJobs(): Promise<number> {
  for (const relay of monolith.get(RelayApi).relays) if (relay.destination.name === 'jobs') await relay.runOnce();
  const stop = new AbortController();
  return monolith.get(JobsApi).consume({ limit: 1000, timeLimitSeconds: 20, untilEmpty: true, stop: stop.signal });
}

const notIndexed = async (): Promise<number> =>
  (await rows<{ n: number }>('select count(*)::int as n from matches where id not in (select match_id from match_search)'))[0]
    ?.n ?? -1;

describe('the search', () => {
  beforeEach(async () => {
    await match('HNK Đorđević', 'NK Slaven Belupo', 'Gradski stadion', 30);
    await match('Hajduk', 'Rijeka', 'Poljud', 20);
    await match('Osijek', 'Gorica', 'Rijeka Arena', 10);
    await match('Динамо Москва', "O'Higgins", 'Stadion 2', 40);
    while ((await search().indexOutdated()) > 0);
  });

  test.each([
    ['dordevic', ['HNK Đorđević – NK Slaven Belupo']],
    ['ĐORĐEVIĆ', ['HNK Đorđević – NK Slaven Belupo']],
    ['dord', ['HNK Đorđević – NK Slaven Belupo']],
    ['hnk slav', ['HNK Đorđević – NK Slaven Belupo']],
    ['slav hnk', []],
    ['belupo hnk', ['HNK Đorđević – NK Slaven Belupo']],
    ['hnk rijeka', []],
    ['ordevic', []],
    ['poljud', ['Hajduk – Rijeka']],
    ['динамо', ["Динамо Москва – O'Higgins"]],
    ['hajduk & !rijeka | (', ['Hajduk – Rijeka']],
    [`'rijeka' \\ : poljud`, ['Hajduk – Rijeka']],
    ["o'hig", ["Динамо Москва – O'Higgins"]],
    ['stadion', ['HNK Đorđević – NK Slaven Belupo', "Динамо Москва – O'Higgins"]],
  ])('for %s finds %j', async (q, expected) => {
    expect(await found(q)).toEqual(expected);
  });

  test('ranks a match of the team before a match in the venue of that name, although it is later', async () => {
    expect(await found('rijeka')).toEqual(['Hajduk – Rijeka', 'Osijek – Gorica']);
  });

  test.each(['', '  ', '&|!', `'`])('with the text %p, which has no words, lists all matches by kick-off', async (q) => {
    expect((await list({ q })).items).toEqual((await list({})).items);
    expect((await list({ q })).items).toHaveLength(4);
  });

  test('takes the state of the sale as a second filter', async () => {
    expect((await list({ q: 'rijeka', status: 'open' })).items).toHaveLength(2);
    await rows(`update matches set sale_status = 'closed' where home = 'Hajduk'`);
    expect((await list({ q: 'rijeka', status: 'open' })).items.map(({ home }) => home)).toEqual(['Osijek']);
    expect((await list({ q: 'rijeka', status: 'closed' })).items.map(({ home }) => home)).toEqual(['Hajduk']);
  });

  test('gives operators the same matches', async () => {
    const answer = await monolith.call('GET', '/api/v1/ops/matches?q=dordevic', ops);
    expect(answer.json.items).toMatchObject([{ home: 'HNK Đorđević', processing_rate: 600 }]);
  });

  test.each([
    ['more than 100 characters', 'a'.repeat(101)],
    ['a NUL', 'a%00b'],
    ['a line feed', 'a%0Ab'],
  ])('refuses a text with %s', async (_, q) => {
    for (const path of ['/api/v1/matches', '/api/v1/ops/matches']) {
      const answer = await monolith.call('GET', `${path}?q=${q}`, ops);
      expect([answer.status, answer.json.code]).toEqual([400, 'VALIDATION_FAILED']);
    }
  });

  test.each(['ﷺ'.repeat(100), 'æ'.repeat(100), '1 '.repeat(50)])('accepts the long text %s', async (q) => {
    expect(await found(q)).toEqual([]);
  });
});

test('pages of a search contain every match once, the best first', async () => {
  await match('Rijeka', 'Hajduk', 'Rujevica', 90);
  for (let number = 1; number <= 4; number += 1) await match('Osijek', 'Gorica', 'Rijeka', 10);
  await match('Hajduk', 'Rijeka', 'Poljud', 80);
  await search().indexOutdated();
  const all = (await list({ q: 'rij' })).items;
  expect(all.slice(0, 2).map(({ home }) => home)).toEqual(['Hajduk', 'Rijeka']);
  expect(all).toHaveLength(6);
  for (const limit of ['1', '2', '4']) {
    const seen: Found['items'] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: Found = await list({ q: 'rij', limit, ...(cursor ? { cursor } : {}) });
      seen.push(...page.items);
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(all);
  }
});

describe('a write of a match', () => {
  test('is found after its job, and no longer by the old name', async () => {
    const id = await match('Hajduk', 'Rijeka', 'Poljud');
    expect(await found('hajduk')).toEqual([]);
    expect(await runJobs()).toBe(1);
    expect(await found('hajduk')).toHaveLength(1);
    await rename(id, { home: 'Šibenik', venue: 'Šubićevac' });
    expect(await runJobs()).toBeGreaterThan(0);
    expect([await found('hajduk'), await found('sibenik'), await found('subicevac')]).toEqual([
      [],
      ['Šibenik – Rijeka'],
      ['Šibenik – Rijeka'],
    ]);
  });

  test('that changes no word creates no job', async () => {
    const id = await match('Hajduk', 'Rijeka', 'Poljud');
    await rows('truncate jobs, outbox');
    expect((await rename(id, { home: 'Hajduk', max_tickets_per_fan: 3 })).status).toBe(200);
    expect(await rows(`select 1 from jobs where class = 'index_match'`)).toEqual([]);
  });

  test('that is rolled back creates no job', async () => {
    const put = monolith.get(TransactionManager).run(async (tx) => {
      await monolith.get(Jobs).put<IndexMatch>(tx, [{ class: 'index_match', matchId: '0190a000-0000-7000-8000-000000000001' }]);
      throw new Error('rolled back');
    });
    await expect(put).rejects.toThrow('rolled back');
    expect(await runJobs()).toBe(0);
  });

  test('whose process dies before the job runs is indexed by the next process, from the job alone', async () => {
    await match('Hajduk', 'Rijeka', 'Poljud');
    await redis.flush();
    const next = await openMonolith({ DATABASE_URL: database.url, REDIS_URL: redis.url });
    for (const relay of next.get(RelayApi).relays) if (relay.destination.name === 'jobs') await relay.runOnce();
    const stop = new AbortController();
    await next.get(JobsApi).consume({ limit: 10, timeLimitSeconds: 20, untilEmpty: true, stop: stop.signal });
    await next.close();
    expect(await found('poljud')).toHaveLength(1);
  });

  test('is found within 5 s while the service runs, and matches from before the search are found after its start', async () => {
    await insertMatches(monolith.dataSource, 1200);
    const resources = await openResources(monolith.config, 'monolith');
    const app = await createMonolith(resources);
    await app.getHttpAdapter().getInstance().ready();
    const call = callerOf(app);
    const within5s = async (count: () => Promise<number>, expected: number): Promise<void> => {
      const endAt = Date.now() + 5000;
      while ((await count()) !== expected && Date.now() < endAt) await new Promise((resolve) => setTimeout(resolve, 50));
      expect(await count()).toBe(expected);
    };
    const countOf = (q: string) => async (): Promise<number> =>
      (await call('GET', `/api/v1/matches?q=${encodeURIComponent(q)}&limit=100`)).json.items.length;
    try {
      await within5s(notIndexed, 0);
      expect(await countOf('durdevac 1200')()).toBe(1);
      const { id } = await putOnSale({ ...monolith, call }, { home: 'Ćiro Blažević' });
      await within5s(countOf('ciro bla'), 1);
      await call('PATCH', `/api/v1/ops/matches/${id}`, { ...ops, body: { home: 'Žarko Čabrajić' } });
      await within5s(countOf('cabraj'), 1);
      await within5s(countOf('ciro'), 0);
    } finally {
      await app.close();
      // The end of the HTTP server may have closed the connections already.
      await resources.close().catch(() => undefined);
    }
  }, 60_000);
});

describe('outdated rows', () => {
  test('are indexed again: rows that are missing, and rows of a match that was changed without a job', async () => {
    await insertMatches(monolith.dataSource, 600);
    expect([await search().indexOutdated(), await search().indexOutdated(), await search().indexOutdated()]).toEqual([
      500, 100, 0,
    ]);
    await rows(`update matches set venue = 'Maksimir' where home = 'Đurđevac 7'`);
    expect(await found('maksimir')).toEqual([]);
    expect(await search().indexOutdated()).toBe(1);
    expect(await found('maksimir')).toEqual(['Đurđevac 7 – Gost']);
  });
});
