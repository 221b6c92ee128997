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

// Holds that expire without a checkout, on two replicas whose snapshots have the seats as taken. The expiry sweeper does not run by
// itself in these tests.

/** How long holds last in these tests: long enough to hold all seats first, which takes about two seconds. */
const HOLD_SECONDS = 8;

let opened: OpenBoxOffice;
let secondReplica: WholeMonolith;
let offices: readonly [BoxOffice, BoxOffice];

beforeAll(async () => {
  const settings = { RESERVATION_HOLD_SECONDS: String(HOLD_SECONDS) };
  opened = await openBoxOffice(settings);
  secondReplica = await openMonolith({ ...opened.settings, ...settings });
  offices = [opened.office, new BoxOffice(secondReplica)];
});
afterAll(async () => {
  await secondReplica.close();
  await opened.close();
});

const waitUntil = (time: string | number) =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, new Date(time).getTime() - Date.now())));

/**
 * Repeats a hold request until it succeeds. Returns when the last refused request was sent, in milliseconds after `from`. It does
 * not use the time of the answer, which also depends on the speed of the machine.
 */
async function refusedUntilMs(
  office: BoxOffice,
  match: MatchOnSale,
  quantity: number,
  from: number,
  as: { as?: string; turn?: string } = {},
): Promise<number> {
  for (let lastRefused = 0; ;) {
    const sentAfterMs = Date.now() - from;
    const { status } = await office.hold(match, { ...as, quantity });
    if (status === 201) return lastRefused;
    lastRefused = sentAfterMs;
    if (sentAfterMs > 3000) return Number.POSITIVE_INFINITY;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Retries SEATS_BUSY, as clients should: two replicas that hold many seats at once may propose the same ones. */
async function holdWithRetry(office: BoxOffice, match: MatchOnSale, quantity: number) {
  const from = Date.now();
  for (;;) {
    const answer = await office.hold(match, { quantity });
    if (answer.json.code !== 'SEATS_BUSY' || Date.now() - from > 3000) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const FANS = 500;
const SEATS_PER_FAN = 20;

test('10,000 standing places in expired holds: both replicas can hold them again within a second, before the expiry sweeper has run', async () => {
  const [first, second] = offices;
  const terrace = { name: 'Terrace', kind: 'standing', price_cents: 900, capacity: FANS * SEATS_PER_FAN };
  const match = await putOnSale(first.monolith, { max_tickets_per_fan: SEATS_PER_FAN, sectors: [terrace] });
  const officeOf = (fan: number) => offices[fan % 2 === 0 ? 0 : 1];
  const holdAll = (fans: number) =>
    Promise.all(Array.from({ length: fans }, (_, fan) => holdWithRetry(officeOf(fan), match, SEATS_PER_FAN)));
  const answers = await holdAll(FANS);
  expect(answers.filter(({ status }) => status !== 201)).toEqual([]);
  const ends = answers.map(({ json }) => new Date(json.expires_at).getTime());
  const [firstEnd, lastEnd] = [Math.min(...ends), Math.max(...ends)];
  for (const office of offices) {
    const { json } = await office.hold(match);
    expect([json.code, new Date(json.next_expiry_at).getTime()]).toEqual(['ALL_SEATS_HELD', firstEnd]);
  }

  await waitUntil(firstEnd);
  const oneSeat = await Promise.all(offices.map((office) => refusedUntilMs(office, match, 1, firstEnd)));
  await waitUntil(lastEnd);
  const manySeats = await Promise.all(offices.map((office) => refusedUntilMs(office, match, SEATS_PER_FAN, lastEnd)));
  expect(Math.max(...oneSeat, ...manySeats)).toBeLessThan(1000);
  const { json } = await second.monolith.call('GET', `/api/v1/matches/${match.id}/sectors`);
  expect(json.items[0].available).toBe(FANS * SEATS_PER_FAN - 42);
  const refused = (await holdAll(Math.floor((FANS * SEATS_PER_FAN - 42) / SEATS_PER_FAN))).filter(({ status }) => status !== 201);
  expect(refused).toEqual([]);

  const ended = await Promise.all(offices.map(({ monolith }) => monolith.get(ExpireReservations).execute()));
  expect(ended.reduce((sum, count) => sum + count, 0)).toBe(FANS);
  const events = await first.rows<{ n: number }>(
    `select count(*)::int as n from outbox where event = 'reservation.expired' and body ->> 'match_id' = $1 group by body ->> 'reservation_id'`,
    [match.id],
  );
  expect([events.length, events.every(({ n }) => n === 1)]).toEqual([FANS, true]);
  const left = (FANS * SEATS_PER_FAN - 42) % SEATS_PER_FAN;
  expect(await first.seatRows(match)).toEqual({ available: left, held: FANS * SEATS_PER_FAN - left });
});

describe('a hold that expires together with its turn', () => {
  /** A fan whose turn ends in 2.5 s holds chosen seats. Another fan (`rival`) has a longer turn. */
  async function holdInShortTurn(seatsPerRow: number, from: number, to: number) {
    const [{ monolith }] = offices;
    const match = await putOnSale(monolith, {
      queue_required: true,
      max_tickets_per_fan: 5,
      sectors: [seated('East A', 1, seatsPerRow)],
    });
    const [as, rival] = [randomUUID(), randomUUID()];
    const [shortTurn, longTurn] = [await grantTurn(monolith, match.id, as, 2.5), await grantTurn(monolith, match.id, rival)];
    const held = await offices[0].held(match, {
      as,
      turn: shortTurn,
      seatIds: (await offices[0].seatIds(match)).slice(from, to),
    });
    return { match, held, end: new Date(held.expires_at).getTime(), rival: { as: rival, turn: longTurn } };
  }

  test('frees its seats at its expiry on the database’s clock, not before', async () => {
    const { match, held, end, rival } = await holdInShortTurn(4, 0, 4);
    const attempts: { isBeforeEnd: boolean; status: number }[] = [];
    await waitUntil(end - 1200);
    while (attempts.at(-1)?.status !== 201 && Date.now() < end + 5000) {
      const { status } = await offices[1].hold(match, { ...rival, seatIds: held.seatIds });
      const [clock] = await offices[0].rows<{ over: boolean }>(`select now() >= $1::timestamptz as over`, [held.expires_at]);
      attempts.push({ isBeforeEnd: clock?.over === false, status });
    }
    expect(attempts.filter(({ isBeforeEnd, status }) => isBeforeEnd && status === 201)).toEqual([]);
    expect([attempts[0]?.isBeforeEnd, attempts.at(-1)?.status, await offices[0].reservation(held)]).toEqual([
      true,
      201,
      'expired',
    ]);
  });

  test('and that left no two neighbouring seats free: its two seats can be held again within a second after it expires', async () => {
    const { match, end, rival } = await holdInShortTurn(5, 2, 4);
    expect((await offices[1].hold(match, { ...rival, quantity: 3 })).json.together).toBe(false);
    await waitUntil(end);
    expect(await refusedUntilMs(offices[1], match, 2, end, rival)).toBeLessThan(1000);
  });
});
