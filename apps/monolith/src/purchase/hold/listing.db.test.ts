import { randomUUID } from 'node:crypto';
import { putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { openBoxOffice, type BoxOffice, type HeldSeats, type OpenBoxOffice } from '../testing/box-office.ts';
import { QuotaOffice } from '../testing/quota-office.ts';
import { ExpireReservations } from './application/expire-reservations.ts';

let opened: OpenBoxOffice;
let office: BoxOffice;
let match: MatchOnSale;

beforeAll(async () => {
  // The expiry sweeper runs only when a test calls it.
  opened = await openBoxOffice({ RESERVATION_EXPIRY_SECONDS: '3600' });
  office = opened.office;
});
afterAll(() => opened.close());
beforeEach(async () => {
  match = await putOnSale(office.monolith, { max_tickets_per_fan: 4, sectors: [seated('East A', 4, 10)] });
});

const list = async (as: string, query = '') =>
  (await office.monolith.call('GET', `/api/v1/reservations${query}`, { as })).json as {
    items: { id: string; status: string }[];
    next_cursor: string | null;
  };
const listed = async (as: string, query = '') => (await list(as, query)).items.map(({ id, status }) => `${id} ${status}`);
const sweep = () => office.monolith.get(ExpireReservations).execute();
/** The reservations of the fan in the table, newest first, in any state. */
const stored = async (as: string): Promise<string[]> =>
  (await office.rows<{ id: string }>(`select id from reservations where user_id = $1 order by id desc`, [as])).map(
    ({ id }) => id,
  );

async function paid(as: string): Promise<HeldSeats> {
  const held = await office.held(match, { as });
  await office.settle(office.report(await office.ordered(held)));
  return held;
}

/** Makes one reservation of each state for the fan; after each of them, the fan's next hold forgets those that have ended. */
async function oneOfEachState(as: string): Promise<Record<string, string>> {
  const completed = await paid(as);
  const released = await office.held(match, { as });
  await office.release(released);
  const swept = await office.held(match, { as });
  await office.lapse(swept);
  await sweep();
  const expired = await office.held(match, { as });
  await office.lapse(expired);
  const ordered = await office.held(match, { as });
  await office.ordered(ordered);
  const held = await office.held(match, { as });
  return {
    [held.id]: 'held',
    [ordered.id]: 'ordered',
    [expired.id]: 'expired',
    [swept.id]: 'expired',
    [released.id]: 'released',
    [completed.id]: 'completed',
  };
}

test('a fan’s reservations of all states are listed newest first, and those of other fans are not', async () => {
  const [ana, barbara] = [randomUUID(), randomUUID()];
  const other = await office.held(match, { as: barbara });
  const expected = await oneOfEachState(ana);
  expect(await listed(ana)).toEqual(Object.entries(expected).map(([id, status]) => `${id} ${status}`));
  expect((await list(ana)).items.map(({ id }) => id)).toEqual(await stored(ana));
  expect(await listed(barbara)).toEqual([`${other.id} held`]);
  expect(await list(randomUUID())).toEqual({ items: [], next_cursor: null });
});

test('an item of the list equals the reservation itself', async () => {
  const held = await office.held(match, { quantity: 2 });
  const { items } = await list(held.userId);
  expect(items).toEqual([(await office.monolith.call('GET', `/api/v1/reservations/${held.id}`, { as: held.userId })).json]);
});

test('filters by status and match: an expired hold is listed as expired before and after the expiry sweeper has ended it', async () => {
  const ana = randomUUID();
  const expected = await oneOfEachState(ana);
  const elsewhere = await office.held(await putOnSale(office.monolith), { as: ana });
  const withStatus = (status: string) => Object.keys(expected).filter((id) => expected[id] === status);
  for (let round = 0; round < 2; round += 1) {
    for (const status of ['ordered', 'completed', 'expired', 'released'])
      expect(await listed(ana, `?status=${status}`)).toEqual(withStatus(status).map((id) => `${id} ${status}`));
    expect(await listed(ana, '?status=held')).toEqual([elsewhere.id, ...withStatus('held')].map((id) => `${id} held`));
    expect(await listed(ana, `?status=held&match_id=${match.id}`)).toEqual(withStatus('held').map((id) => `${id} held`));
    expect(await listed(ana, `?match_id=${randomUUID()}`)).toEqual([]);
    await sweep();
  }
});

test('pages follow each other without gaps and repetitions', async () => {
  const ana = randomUUID();
  await oneOfEachState(ana);
  const found: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { items, next_cursor } = await list(ana, `?limit=2${cursor && `&cursor=${cursor}`}`);
    found.push(...items.map(({ id }) => id));
    cursor = next_cursor;
  }
  expect(found).toEqual(await stored(ana));
  expect(found).toHaveLength(6);
});

test('the reservation of a claimed invitation is listed, living and ended', async () => {
  const ana = randomUUID();
  const quotas = new QuotaOffice(office);
  const places = (await office.seatIds(match)).slice(0, 2);
  const invited = await quotas.invite(match, await quotas.quota(match, places), places);
  const claimed = await quotas.claimed(invited, { as: ana });
  expect(await listed(ana)).toEqual([`${claimed.id} held`]);
  await quotas.endHold(claimed.id);
  expect(await listed(ana)).toEqual([`${claimed.id} expired`]);
});

test('a hold that was paid too late and its order are listed as ended', async () => {
  const ana = randomUUID();
  const held = await office.held(match, { as: ana });
  const ordered = await office.ordered(held);
  await office.lapse(held);
  await office.held(match, { as: randomUUID(), seatIds: held.seatIds });
  await office.held(match, { as: ana });
  expect(await office.settle(office.report(ordered))).toBe('refunded');
  expect((await list(ana)).items.map(({ id }) => id)).toEqual(await stored(ana));
  await sweep();
  expect((await list(ana)).items.map(({ id }) => id)).toEqual(await stored(ana));
});

test.each(['?status=paid', '?match_id=1', '?cursor=x', '?limit=0'])('the query %s is 400', async (query) => {
  const { status, json } = await office.monolith.call('GET', `/api/v1/reservations${query}`, { as: randomUUID() });
  expect([status, json.code]).toEqual([400, 'VALIDATION_FAILED']);
});
