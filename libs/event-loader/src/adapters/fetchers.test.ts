import { execFileSync } from 'node:child_process';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { EventFetchError } from '../core/event.ts';
import { startSourceServer, type SourceServer } from '../testing/source-server.ts';
import { eventFetcherContract } from '../testing/event-fetcher.contract.ts';
import { ManualTime, MemoryFetcher } from '../testing/memory-parts.ts';
import { sourceNamed } from '../testing/sources.ts';
import { answerAsStripe } from '../testing/stripe-list.ts';
import { FileEventFetcher, type FileSource } from './file-event-fetcher.ts';
import { HttpEventFetcher, type HttpSource } from './http-event-fetcher.ts';
import { StripeEventFetcher, type StripeSource } from './stripe-event-fetcher.ts';

/** The address of an unreachable source: no server listens on port 9 (discard). */
const NOWHERE = 'http://127.0.0.1:9/events';
const makeEntries = (count: number, bad: readonly number[], idOf: (n: number) => unknown) =>
  Array.from({ length: count }, (_, index) => ({
    id: idOf(index + 1),
    payload: bad.includes(index + 1) ? 'none' : { n: index + 1 },
  }));

describe('memory fetcher', () => {
  const fetcher = new MemoryFetcher(new ManualTime());
  fetcher.failing.set('unreachable', new EventFetchError('SOURCE_UNREACHABLE', 'ECONNREFUSED'));
  eventFetcherContract(() => ({
    fetcher,
    source: sourceNamed('any'),
    unreachable: sourceNamed('unreachable'),
    idOf: String,
    offer: async (count, bad = []) => void fetcher.offered.set('any', makeEntries(count, bad, Number)),
  }));
});

describe('HTTP fetcher', () => {
  let server: SourceServer;
  let events: { id: unknown; payload: unknown }[] = [];
  beforeAll(async () => {
    server = await startSourceServer((url, response) => {
      const [after, limit] = [Number(url.searchParams.get('after_id')), Number(url.searchParams.get('limit'))];
      response.end(JSON.stringify({ events: events.filter(({ id }) => Number(id) > after).slice(0, limit) }));
    });
  });
  afterAll(() => server.close());

  const source = (url: string, headers = {}): HttpSource => ({ ...sourceNamed('http'), kind: 'http', url, headers });
  eventFetcherContract(() => ({
    fetcher: new HttpEventFetcher(),
    source: source(server.url),
    unreachable: source(NOWHERE),
    idOf: String,
    offer: async (count, bad = []) => void (events = makeEntries(count, bad, Number)),
  }));

  test('a request has the parameters after_id and limit, the query of the source’s URL, and the source’s headers', async () => {
    await new HttpEventFetcher().fetch(source(`${server.url}?gate=north`, { 'x-api-key': 'secret' }), '17', 1000);
    const last = server.requests.at(-1)!;
    expect([last.url.search, last.headers['x-api-key']]).toEqual(['?gate=north&after_id=17&limit=1000', 'secret']);
  });
});

describe('Stripe fetcher', () => {
  let server: SourceServer;
  let events: { id: string; object?: string }[] = [];
  const idOf = (n: number): string => `evt_${n.toString(36)}x`;
  beforeAll(async () => {
    server = await startSourceServer((url, response) => answerAsStripe(events, url, response));
  });
  afterAll(() => server.close());

  const source = (url: string): StripeSource => ({
    ...sourceNamed('stripe', { ids: 'listed' }),
    kind: 'stripe',
    url,
    headers: { authorization: 'Bearer sk_test' },
  });
  const offer = (count: number): void =>
    void (events = Array.from({ length: count }, (_, index) => ({ id: idOf(index + 1), object: 'event' })));

  eventFetcherContract(() => ({
    fetcher: new StripeEventFetcher({ gapMs: 1 }),
    source: source(server.url),
    unreachable: source(NOWHERE),
    idOf,
    offer: async (count, bad = []) => {
      offer(count);
      // The payload of Stripe is the whole entry, so a payload is bad only if it cannot be stored.
      for (const n of bad) events[n - 1] = { id: idOf(n), object: 'zero \0' };
    },
  }));

  test('with a cursor a fetch makes one request, which asks for the page of events after the cursor', async () => {
    offer(500);
    const before = server.requests.length;
    const { events: page } = await new StripeEventFetcher().fetch(source(server.url), idOf(120), 1000);
    expect(page.map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, index) => idOf(121 + index)));
    expect(server.requests.slice(before).map(({ url }) => url.search)).toEqual([`?limit=100&ending_before=${idOf(120)}`]);
  });

  test('without a cursor a fetch returns the oldest events, up to the limit', async () => {
    offer(350);
    const { events: page } = await new StripeEventFetcher({ gapMs: 1 }).fetch(source(server.url), undefined, 200);
    expect([page.length, page[0]?.id, page.at(-1)?.id]).toEqual([200, idOf(1), idOf(200)]);
  });

  test('with a cursor that Stripe no longer knows, a fetch starts again at the oldest event', async () => {
    offer(3);
    const { events: page } = await new StripeEventFetcher({ gapMs: 1 }).fetch(source(server.url), 'evt_forgotten', 1000);
    expect(page.map(({ id }) => id)).toEqual([1, 2, 3].map(idOf));
  });
});

describe('file fetcher', () => {
  let folder: string;
  let file: FileSource;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'tribina-loader-'));
    file = { ...sourceNamed('file'), kind: 'file', path: path.join(folder, 'gate.ndjson') };
  });
  afterAll(() => rm(folder, { recursive: true }));
  const lines = (entries: readonly unknown[]): string => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
  const fetcher = new FileEventFetcher();

  eventFetcherContract(() => ({
    fetcher,
    source: file,
    unreachable: { ...file, path: path.join(folder, 'nothing.ndjson') },
    idOf: String,
    offer: (count, bad = []) => writeFile(file.path, lines(makeEntries(count, bad, Number))),
  }));

  test('an incomplete last line is read by a later fetch, when it is complete', async () => {
    await writeFile(file.path, `${lines(makeEntries(2, [], Number))}{"id":3,"pay`);
    expect((await fetcher.fetch(file, undefined, 10)).events).toHaveLength(2);
    await appendFile(file.path, 'load":{"n":3}}\n');
    expect((await fetcher.fetch(file, '2', 10)).events.map(({ id }) => id)).toEqual(['3']);
  });

  test('a line that is not JSON is a bad event, the other lines are read', async () => {
    await writeFile(file.path, `${lines(makeEntries(1, [], Number))}\nnot json\n${lines([{ id: 2, payload: {} }])}`);
    const { events, bad } = await fetcher.fetch(file, undefined, 10);
    expect([events.map(({ id }) => id), bad.map(({ content }) => content)]).toEqual([['1', '2'], ['not json']]);
  });

  test('a path that is not a regular file is refused, because reading a pipe could block for ever', async () => {
    const pipe = path.join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    for (const notAFile of [pipe, folder, '/dev/zero'])
      await expect(fetcher.fetch({ ...file, path: notAFile }, undefined, 10)).rejects.toMatchObject({ code: 'SOURCE_FAILED' });
  });

  test('of more invalid lines than `limit`, only `limit` are returned as bad events, and the events after the invalid lines are read', async () => {
    await writeFile(file.path, `${'junk\n'.repeat(5000)}${lines(makeEntries(3, [], Number))}`);
    const { events, bad } = await fetcher.fetch(file, undefined, 10);
    expect([events.length, bad.length]).toEqual([3, 10]);
  });

  test('an invalid line at the end of a file is read once, and a line that is added later is read', async () => {
    const ownFetcher = new FileEventFetcher();
    await writeFile(file.path, `${lines(makeEntries(2, [], Number))}junk\n`);
    const results = [
      await ownFetcher.fetch(file, undefined, 10),
      await ownFetcher.fetch(file, '2', 10),
      await ownFetcher.fetch(file, '2', 10),
    ];
    expect(results.map(({ events, bad }) => [events.length, bad.length])).toEqual([
      [2, 1],
      [0, 0],
      [0, 0],
    ]);
    await appendFile(file.path, lines([{ id: 3, payload: {} }]));
    expect((await ownFetcher.fetch(file, '2', 10)).events.map(({ id }) => id)).toEqual(['3']);
  });

  test('when another loader has moved the cursor, a fetcher continues at its own last offset, not at the start of the file', async () => {
    await writeFile(file.path, lines(makeEntries(30, [], Number)));
    const ownFetcher = new FileEventFetcher();
    await ownFetcher.fetch(file, undefined, 10);
    // Another loader has moved the cursor to 20. Line 2 is now invalid: a read from the start of the file would report it.
    const text = lines(makeEntries(30, [], Number));
    await writeFile(file.path, text.replace('{"id":2,', '!"id":2,'));
    const { events, bad } = await ownFetcher.fetch(file, '20', 10);
    expect([events[0]?.id, events.length, bad.length]).toEqual(['21', 10, 0]);
  });

  test('a line longer than one chunk of the file (256 KB) is read completely', async () => {
    const long = Array.from({ length: 5 }, (_, index) => ({ id: index + 1, payload: { text: 'ž'.repeat(200_000) } }));
    await writeFile(file.path, lines(long));
    expect((await fetcher.fetch(file, undefined, 10)).events.map(({ payload }) => payload)).toEqual(
      long.map(({ payload }) => payload),
    );
  });
});
