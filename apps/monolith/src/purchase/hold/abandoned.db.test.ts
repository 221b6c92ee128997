import { randomUUID } from 'node:crypto';
import {
  grantTurn,
  openMonolith,
  putOnSale,
  seated,
  type MatchOnSale,
  type WholeMonolith,
} from '../../testing/whole-monolith.ts';
import { BoxOffice, openBoxOffice, type OpenBoxOffice } from '../testing/box-office.ts';
import { ExpireReservations } from './application/expire-reservations.ts';

// Holds nobody came back to, over two replicas whose memory knows them as taken, and no scheduler.

/** Time enough to hold everything first, which takes about two seconds. */
const HOLD_SECONDS = 8;

let opened: OpenBoxOffice;
let second: WholeMonolith;
let offices: readonly [BoxOffice, BoxOffice];

beforeAll(async () => {
  const settings = { RESERVATION_HOLD_SECONDS: String(HOLD_SECONDS) };
  opened = await openBoxOffice(settings);
  second = await openMonolith({ ...opened.settings, ...settings });
  offices = [opened.office, new BoxOffice(second)];
});
afterAll(async () => {
  await second.close();
  await opened.close();
});

const until = (time: string | number) =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, new Date(time).getTime() - Date.now())));

/**
 * Asks until it is given, as a patient client does; how long after `from` the last request left that was refused. The time of an
 * answer would measure the machine, too.
 */
async function refusedUntil(
  office: BoxOffice,
  match: MatchOnSale,
  quantity: number,
  from: number,
  as: { as?: string; turn?: string } = {},
): Promise<number> {
  for (let lastRefused = 0; ;) {
    const sentAfter = Date.now() - from;
    const { status } = await office.hold(match, { ...as, quantity });
    if (status === 201) return lastRefused;
    lastRefused = sentAfter;
    if (sentAfter > 3000) return Number.POSITIVE_INFINITY;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** As every client may be told SEATS_BUSY with Retry-After: two replicas sell a quarter of the sector at once, and may propose the same. */
async function heldAtPeak(office: BoxOffice, match: MatchOnSale, quantity: number) {
  const from = Date.now();
  for (;;) {
    const answer = await office.hold(match, { quantity });
    if (answer.json.code !== 'SEATS_BUSY' || Date.now() - from > 3000) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const FANS = 500;
const EACH = 20;

test('10,000 places that 500 fans let go are buyable again within a second of their end, all of them, everywhere, before anybody tidied up', async () => {
  const [one, two] = offices;
  const terrace = { name: 'Terrace', kind: 'standing', price_cents: 900, capacity: FANS * EACH };
  const match = await putOnSale(one.monolith, { max_tickets_per_fan: EACH, sectors: [terrace] });
  const officeOf = (fan: number) => offices[fan % 2 === 0 ? 0 : 1];
  const holdAll = (fans: number) => Promise.all(Array.from({ length: fans }, (_, fan) => heldAtPeak(officeOf(fan), match, EACH)));
  const answers = await holdAll(FANS);
  expect(answers.filter(({ status }) => status !== 201)).toEqual([]);
  const ends = answers.map(({ json }) => new Date(json.expires_at).getTime());
  const [first, last] = [Math.min(...ends), Math.max(...ends)];
  for (const office of offices) {
    const { json } = await office.hold(match);
    expect([json.code, new Date(json.next_expiry_at).getTime()]).toEqual(['ALL_SEATS_HELD', first]);
  }

  await until(first);
  const some = await Promise.all(offices.map((office) => refusedUntil(office, match, 1, first)));
  await until(last);
  const many = await Promise.all(offices.map((office) => refusedUntil(office, match, EACH, last)));
  expect(Math.max(...some, ...many)).toBeLessThan(1000);
  const { json } = await two.monolith.call('GET', `/api/v1/matches/${match.id}/sectors`);
  expect(json.items[0].available).toBe(FANS * EACH - 42);
  const refused = (await holdAll(Math.floor((FANS * EACH - 42) / EACH))).filter(({ status }) => status !== 201);
  expect(refused).toEqual([]);

  const tidied = await Promise.all(offices.map(({ monolith }) => monolith.get(ExpireReservations).execute()));
  expect(tidied.reduce((sum, ended) => sum + ended, 0)).toBe(FANS);
  const told = await one.rows<{ n: number }>(
    `select count(*)::int as n from outbox where event = 'reservation.expired' and body ->> 'match_id' = $1 group by body ->> 'reservation_id'`,
    [match.id],
  );
  expect([told.length, told.every(({ n }) => n === 1)]).toEqual([FANS, true]);
  const left = (FANS * EACH - 42) % EACH;
  expect(await one.seatRows(match)).toEqual({ available: left, held: FANS * EACH - left });
});

describe('a hold that ends with its turn', () => {
  /** Seats by name, held for a moment only; and somebody else in a long turn. */
  async function heldForAMoment(seatsPerRow: number, from: number, to: number) {
    const [{ monolith }] = offices;
    const match = await putOnSale(monolith, {
      queue_required: true,
      max_tickets_per_fan: 5,
      sectors: [seated('East A', 1, seatsPerRow)],
    });
    const [as, rival] = [randomUUID(), randomUUID()];
    const [turn, long] = [await grantTurn(monolith, match.id, as, 2.5), await grantTurn(monolith, match.id, rival)];
    const held = await offices[0].held(match, { as, turn, seatIds: (await offices[0].seatIds(match)).slice(from, to) });
    return { match, held, end: new Date(held.expires_at).getTime(), rival: { as: rival, turn: long } };
  }

  test('frees its seats at that moment: not before it, on the database’s clock', async () => {
    const { match, held, end, rival } = await heldForAMoment(4, 0, 4);
    const seen: { before: boolean; status: number }[] = [];
    await until(end - 1200);
    while (seen.at(-1)?.status !== 201 && Date.now() < end + 5000) {
      const { status } = await offices[1].hold(match, { ...rival, seatIds: held.seatIds });
      const [clock] = await offices[0].rows<{ over: boolean }>(`select now() >= $1::timestamptz as over`, [held.expires_at]);
      seen.push({ before: clock?.over === false, status });
    }
    expect(seen.filter(({ before, status }) => before && status === 201)).toEqual([]);
    expect([seen[0]?.before, seen.at(-1)?.status, await offices[0].reservation(held)]).toEqual([true, 201, 'expired']);
  });

  test('lets a block it broke up be together again', async () => {
    const { match, end, rival } = await heldForAMoment(5, 2, 4);
    expect((await offices[1].hold(match, { ...rival, quantity: 3 })).json.together).toBe(false);
    await until(end);
    expect(await refusedUntil(offices[1], match, 2, end, rival)).toBeLessThan(1000);
  });
});
