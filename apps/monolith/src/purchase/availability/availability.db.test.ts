import { EventStreamReader } from '#testing/event-stream-reader';
import { setTimeout as pause } from 'node:timers/promises';
import { openMonolith, putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../testing/box-office.ts';
import { AvailabilityStreams } from './inbound/availability-streams.ts';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

interface AvailabilityMessage {
  readonly type: 'snapshot' | 'diff';
  readonly version: number;
  readonly sectors: readonly { readonly id: string; readonly available: number }[];
}

let opened: OpenBoxOffice;
let office: BoxOffice;
let url: string;
const readers: EventStreamReader<AvailabilityMessage>[] = [];

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  await office.monolith.app.listen(0, '127.0.0.1');
  url = await office.monolith.app.getUrl();
});
afterEach(() => {
  for (const reader of readers.splice(0)) reader.close();
});
afterAll(async () => {
  // `fetch` opens connections that it never uses. Without this call the shutdown would wait 60 s for them.
  office.monolith.app.getHttpServer().closeAllConnections();
  await opened.close();
});

const twoSectors = () => putOnSale(office.monolith, { sectors: [seated('East A', 2, 5), seated('West B', 3, 5)] });
const streamUrl = (matchId: string) => `${url}/api/v1/matches/${matchId}/availability`;
async function watch(match: MatchOnSale, headers: Record<string, string> = {}): Promise<EventStreamReader<AvailabilityMessage>> {
  const reader = await EventStreamReader.open<AvailabilityMessage>(streamUrl(match.id), headers);
  readers.push(reader);
  return reader;
}
const get = (path: string, headers = {}) => office.monolith.call('GET', path, { headers });
const sectorsOf = async (match: MatchOnSale): Promise<number[]> =>
  (await get(`/api/v1/matches/${match.id}/sectors`)).json.items.map(({ available }: { available: number }) => available);
const seatsPath = (match: MatchOnSale) => `/api/v1/matches/${match.id}/sectors/${match.sectors[0]?.id}/seats`;
/** Holds one seat for `ms` milliseconds. */
async function shortHold(match: MatchOnSale, ms: number): Promise<void> {
  const { id } = await office.held(match);
  await office.rows(`update seats set expires_at = now() + make_interval(secs => $2) where reservation_id = $1`, [id, ms / 1000]);
}
const readCount = () => office.monolith.metric('availability_looks_total');

describe('availability stream', () => {
  test('sends a snapshot of all sectors at once, then diffs with only the changed sectors, with growing versions', async () => {
    const match = await twoSectors();
    const [east, west] = match.sectors;
    const reader = await watch(match);
    const snapshot = await reader.until(({ type }) => type === 'snapshot');
    expect([...snapshot.sectors].sort((a, b) => a.available - b.available)).toEqual([
      { id: east?.id, available: 10 },
      { id: west?.id, available: 15 },
    ]);
    await office.held(match, { sector: 1, quantity: 2 });
    const diff = await reader.until(({ type }) => type === 'diff', 1500);
    expect(diff.sectors).toEqual([{ id: west?.id, available: 13 }]);
    expect(diff.version).toBeGreaterThan(snapshot.version);
    await pause(1100);
    expect(reader.messages).toHaveLength(2);
    expect(reader.text).toMatch(/^retry: 3000\n\ndata: /);
    expect(reader.text).not.toMatch(/^(event|id):/m);
  });

  test('sends 0 when the last seat of a sector is sold', async () => {
    const match = await putOnSale(office.monolith, { sectors: [seated('East A', 1, 1), seated('West B', 1, 5)] });
    const reader = await watch(match);
    const ordered = await office.ordered(await office.held(match));
    await office.settle(office.report(ordered));
    await reader.until(({ type, sectors }) => type === 'diff' && sectors[0]?.available === 0);
    const laterReader = await watch(match);
    expect((await laterReader.until(({ type }) => type === 'snapshot')).sectors).toContainEqual({
      id: match.sectors[0]?.id,
      available: 0,
    });
  });

  test('counts the seats of an expired hold as free within a second, and seats that another process took as taken', async () => {
    const match = await twoSectors();
    await shortHold(match, 1500);
    const reader = await watch(match);
    expect((await reader.until(({ type }) => type === 'snapshot')).sectors).toContainEqual({
      id: match.sectors[0]?.id,
      available: 9,
    });
    await pause(1400 - 100);
    expect(reader.messages).toHaveLength(1);
    await reader.until(
      ({ sectors }) => sectors.some(({ id, available }) => id === match.sectors[0]?.id && available === 10),
      1400,
    );
    await office.rows(`update seats set status = 'blocked' where sector_id = $1`, [match.sectors[1]?.id]);
    await reader.until(({ sectors }) => sectors.some(({ available }) => available === 0), 1400);
  });

  test('causes one query a second for 1,000 viewers and all concurrent requests for the sectors', async () => {
    const match = await twoSectors();
    // Not all at once: the listen queue of a Node server has room for 511 connections; more may be reset.
    for (let hundreds = 0; hundreds < 10; hundreds += 1) await Promise.all(Array.from({ length: 100 }, () => watch(match)));
    await pause(300);
    const before = await readCount();
    const startedAt = performance.now();
    for (let halfSeconds = 0; halfSeconds < 6; halfSeconds += 1) {
      await Promise.all(Array.from({ length: 20 }, () => sectorsOf(match)));
      await pause(500);
    }
    const seconds = (performance.now() - startedAt) / 1000;
    expect((await readCount()) - before).toBeGreaterThanOrEqual(2);
    expect((await readCount()) - before).toBeLessThanOrEqual(Math.ceil(seconds));
    await office.held(match);
    const diffs = await Promise.all(readers.map((reader) => reader.until(({ type }) => type === 'diff')));
    expect(new Set(diffs.map((message) => JSON.stringify(message))).size).toBe(1);
    expect(await office.monolith.metric('availability_streams')).toBe(1000);
  });

  test('has the usual headers (CORS, no-store, request id), answers HEAD, and is 404 for an unknown match', async () => {
    const match = await twoSectors();
    const { response } = await watch(match, { origin: 'http://localhost:3000' });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'access-control-allow-origin': 'http://localhost:3000',
      'cache-control': 'no-store',
      'x-request-id': expect.any(String),
    });
    expect([(await fetch(streamUrl(match.id), { method: 'HEAD' })).status, await openStreams()]).toEqual([200, 1]);
    const unknown = await fetch(streamUrl('0190a000-0000-7000-8000-0000000000ff'));
    expect([unknown.status, ((await unknown.json()) as { code: string }).code]).toEqual([404, 'NOT_FOUND']);
    expect((await fetch(streamUrl('17'))).status).toBe(400);
  });

  const openStreams = () => office.monolith.metric('availability_streams');

  test('is no longer counted when its viewer leaves, and without viewers the database is not read any more', async () => {
    const reader = await watch(await twoSectors());
    await reader.until(({ type }) => type === 'snapshot');
    reader.close();
    await reader.ended;
    for (const giveUpAt = Date.now() + 2000; (await openStreams()) > 0 && Date.now() < giveUpAt; await pause(10));
    const before = await readCount();
    await pause(1200);
    expect([await openStreams(), await readCount()]).toEqual([0, before]);
  });

  test('is refused with 503 and Retry-After by a process with 5,000 streams, and with 429 for an address with 2,000', async () => {
    const match = await twoSectors();
    const streams = office.monolith.get(AvailabilityStreams);
    const releases = Array.from({ length: 2000 }, () => streams.takeSlot('127.0.0.1'));
    const limited = await fetch(streamUrl(match.id));
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^[1-5]$/)]);
    for (let n = 0; n < 3000; n += 1) releases.push(streams.takeSlot(`10.0.${n >> 8}.${n & 255}`));
    const refused = await fetch(streamUrl(match.id));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^[1-5]$/)]);
    for (const release of releases) release();
    expect((await (await watch(match)).until(({ type }) => type === 'snapshot')).type).toBe('snapshot');
  });
});

test('availability streams: a process that shuts down ends its streams, tells viewers when to reconnect, and does not wait for them', async () => {
  const other = await openMonolith(opened.settings);
  await other.app.listen(0, '127.0.0.1');
  const match = await putOnSale(other);
  const reader = await EventStreamReader.open<AvailabilityMessage>(
    `${await other.app.getUrl()}/api/v1/matches/${match.id}/availability`,
  );
  await reader.until(({ type }) => type === 'snapshot');
  const startedAt = performance.now();
  await other.close();
  await reader.ended;
  expect(performance.now() - startedAt).toBeLessThan(3000);
  expect(reader.text).toMatch(/retry: [1-4]\d{3}\n\n$/);
});

describe('GET …/sectors', () => {
  test('shows a hold and a release of this process at once, and a change of another process within a second', async () => {
    const match = await twoSectors();
    expect(await sectorsOf(match)).toEqual([10, 15]);
    const held = await office.held(match, { quantity: 3 });
    expect(await sectorsOf(match)).toEqual([7, 15]);
    await office.monolith.call('DELETE', `/api/v1/reservations/${held.id}`, { as: held.userId });
    expect(await sectorsOf(match)).toEqual([10, 15]);
    await office.block((await office.seatIds(match)).slice(0, 4));
    await pause(1050);
    expect(await sectorsOf(match)).toEqual([6, 15]);
  });

  test('answers 304 while the numbers of free seats have not changed', async () => {
    const match = await twoSectors();
    const { headers } = await get(`/api/v1/matches/${match.id}/sectors`);
    const path = `/api/v1/matches/${match.id}/sectors`;
    expect((await get(path, { 'if-none-match': headers.etag })).status).toBe(304);
    await office.held(match);
    expect((await get(path, { 'if-none-match': headers.etag })).status).toBe(200);
  });
});

describe('GET …/seats of a sector', () => {
  const statuses = (answer: { json: { items: { status: string }[] } }) => answer.json.items.map(({ status }) => status);

  test('shows a hold of this process at once, with a higher version and another ETag', async () => {
    const match = await twoSectors();
    const before = await get(seatsPath(match));
    const held = await office.held(match, { quantity: 2 });
    const after = await get(seatsPath(match), { 'if-none-match': before.headers.etag });
    const heldIds = after.json.items
      .filter(({ status }: { status: string }) => status === 'held')
      .map(({ id }: { id: string }) => id);
    expect([after.status, [...heldIds].sort()]).toEqual([200, [...held.seatIds].sort()]);
    expect(after.json.version).toBeGreaterThan(before.json.version);
    expect(Object.keys(after.json.items[0])).toEqual(['id', 'row', 'number', 'x', 'y', 'status']);
  });

  test('reads the seats from the database again when a hold in the sector ends, and not before', async () => {
    const match = await twoSectors();
    await shortHold(match, 600);
    const first = await get(seatsPath(match));
    const before = await readCount();
    const again = await get(seatsPath(match), { 'if-none-match': first.headers.etag });
    expect([statuses(first).filter((status) => status === 'held').length, again.status, await readCount()]).toEqual([
      1,
      304,
      before,
    ]);
    await pause(620);
    const free = await get(seatsPath(match), { 'if-none-match': first.headers.etag });
    expect([free.status, new Set(statuses(free))]).toEqual([200, new Set(['available'])]);
    expect(free.json.version).toBeGreaterThan(first.json.version);
  });

  test('keeps version and ETag while the sector does not change, also when another sector changes', async () => {
    const match = await twoSectors();
    const first = await get(seatsPath(match));
    await office.held(match, { sector: 1 });
    await pause(1050);
    const later = await get(seatsPath(match));
    expect([later.json.version, later.headers.etag]).toEqual([first.json.version, first.headers.etag]);
  });

  test('has the same ETag in every process', async () => {
    const match = await twoSectors();
    await office.held(match);
    const other = await openMonolith(opened.settings);
    const [here, there] = [await get(seatsPath(match)), await other.call('GET', seatsPath(match))];
    expect(there.headers.etag).toBe(here.headers.etag);
    await other.close();
  });

  test('reads the database once for 500 concurrent requests', async () => {
    const match = await twoSectors();
    const before = await readCount();
    const answers = await Promise.all(Array.from({ length: 500 }, () => get(seatsPath(match))));
    expect([new Set(answers.map(({ status }) => status)), (await readCount()) - before]).toEqual([new Set([200]), 1]);
  });
});

describe('GET …/seats?since=', () => {
  type Seats = { version: number; since?: number | string; items: { id: string; status: string }[] };
  const seats = async (match: MatchOnSale, since?: number | string): Promise<Seats> =>
    (await get(`${seatsPath(match)}${since === undefined ? '' : `?since=${since}`}`)).json;
  /** The seat list of a client, as `id status`: the list `known`, with the changes of `answer` applied to it. */
  const applied = (known: Seats, answer: Seats): string[] => {
    const changed = new Map(answer.items.map(({ id, status }) => [id, status]));
    return known.items.map(({ id, status }) => `${id} ${changed.get(id) ?? status}`);
  };
  const tagOf = async (match: MatchOnSale): Promise<string> =>
    String((await get(seatsPath(match))).headers.etag).replaceAll('"', '');

  test('answers the changed seats; a client that applies them to the version it has gets the current seats', async () => {
    const match = await putOnSale(office.monolith, { sectors: [seated('East A', 4, 10)] });
    const first = await seats(match);
    const tag = await tagOf(match);
    const held = await office.held(match, { quantity: 2 });
    const second = await seats(match);
    await office.monolith.call('DELETE', `/api/v1/reservations/${held.id}`, { as: held.userId });
    await office.held(match, { quantity: 3 });
    const whole = await seats(match);
    const [sinceFirst, sinceTag, sinceSecond] = [
      await seats(match, first.version),
      await seats(match, tag),
      await seats(match, second.version),
    ];
    expect([sinceFirst.since, sinceTag.since, sinceSecond.since]).toEqual([first.version, tag, second.version]);
    expect([sinceFirst.version, sinceTag.items]).toEqual([whole.version, sinceFirst.items]);
    expect(Object.keys(sinceFirst.items[0] ?? {})).toEqual(['id', 'status']);
    expect(sinceFirst.items.length).toBeLessThan(first.items.length);
    const current = applied(whole, whole);
    for (const [known, answer] of [
      [first, sinceFirst],
      [first, sinceTag],
      [second, sinceSecond],
    ] as const)
      expect(applied(known, answer)).toEqual(current);
  });

  test.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ])(
    'the seats travel compressed as %s, and their ETag works as `since` and for 304 as the header gives it',
    async (encoding, decompress) => {
      const match = await putOnSale(office.monolith, { sectors: [seated('East A', 10, 20)] });
      const read = (headers: Record<string, string>, query = '') =>
        office.monolith.app.inject({ method: 'GET', url: `${seatsPath(match)}${query}`, headers });
      const plain = await read({});
      const { headers, rawPayload } = await read({ 'accept-encoding': encoding });
      expect([headers['content-encoding'], decompress(rawPayload).toString()]).toEqual([encoding, plain.body]);
      expect(rawPayload.length).toBeLessThan(plain.rawPayload.length / 3);
      const etag = String(headers.etag);
      expect(etag).toBe(`W/${String(plain.headers.etag)}`);
      expect((await read({ 'accept-encoding': encoding, 'if-none-match': etag })).statusCode).toBe(304);
      await office.held(match, { quantity: 1 });
      for (const since of [etag, etag.slice(2), etag.slice(3, -1)]) {
        const changes: Seats = (await read({}, `?since=${encodeURIComponent(since)}`)).json();
        expect([changes.since, changes.items.map(({ status }) => status)]).toEqual([etag.slice(3, -1), ['held']]);
      }
    },
  );

  test('answers an empty list when nothing changed; the end of a hold is a change', async () => {
    const match = await twoSectors();
    await shortHold(match, 300);
    const before = await seats(match);
    expect(await seats(match, before.version)).toEqual({ version: before.version, since: before.version, items: [] });
    await pause(320);
    const after = await seats(match, before.version);
    expect([after.since, after.items.map(({ status }) => status)]).toEqual([before.version, ['available']]);
  });

  test('answers all seats for a version that is unknown, dropped or of another replica; changes since an ETag work on every replica', async () => {
    const match = await twoSectors();
    const other = await openMonolith(opened.settings);
    const there: Seats = (await other.call('GET', seatsPath(match))).json;
    const here = await seats(match);
    const tag = await tagOf(match);
    await office.held(match);
    for (const unknown of [there.version, 0, here.version + 1, '9999999999999999']) {
      const answer = await seats(match, unknown);
      expect([answer.since, answer.items.length]).toEqual([undefined, 10]);
      expect(Object.keys(answer.items[0] ?? {})).toContain('row');
    }
    await pause(1050);
    const known: Seats = (await other.call('GET', `${seatsPath(match)}?since=${tag}`)).json;
    expect([known.since, known.items.map(({ status }) => status)]).toEqual([tag, ['held']]);
    for (const quantity of [3, 3]) await office.held(match, { quantity });
    expect((await seats(match, here.version)).since).toBeUndefined();
    await other.close();
  });

  test('has the same ETag as the full list, and answers an empty list for a standing sector', async () => {
    const match = await twoSectors();
    const whole = await get(seatsPath(match));
    const changes = await get(`${seatsPath(match)}?since=${whole.json.version}`);
    expect(changes.headers.etag).toBe(whole.headers.etag);
    const same = await get(`${seatsPath(match)}?since=${whole.json.version}`, { 'if-none-match': whole.headers.etag });
    expect([same.status, same.text]).toEqual([304, '']);
    const standing = await putOnSale(office.monolith, {
      sectors: [{ name: 'North', kind: 'standing', price_cents: 1000, capacity: 20 }],
    });
    const before = await seats(standing);
    await office.held(standing);
    expect(await seats(standing, before.version)).toEqual({
      version: expect.any(Number),
      since: before.version,
      items: [],
    });
  });

  test.each(['', 'abc', '-1', '1.5', '01', '1e3', '%201', '99999999999999999', 'x'.repeat(28), '1&since=2'])(
    'refuses since=%p, which is neither a version nor an ETag',
    async (since) => {
      const answer = await get(`${seatsPath(await twoSectors())}?since=${since}`);
      expect([answer.status, answer.json.code, answer.json.errors?.[0]?.path]).toEqual([400, 'VALIDATION_FAILED', 'since']);
    },
  );
});
