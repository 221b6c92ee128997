import { randomUUID } from 'node:crypto';
import { MatchesForSale } from '../../apps/monolith/src/purchase/application/ports.ts';
import { SeatInventory } from '../../apps/monolith/src/purchase/availability/application/ports.ts';
import { HoldSeats } from '../../apps/monolith/src/purchase/hold/application/hold-seats.ts';
import { newKey, type TestAnswer } from '../../apps/monolith/src/testing/test-app.ts';
import { putOnSale, seated, type MatchOnSale } from '../../apps/monolith/src/testing/whole-monolith.ts';
import { NakedSeatHolds } from './naked-seat-holds.ts';
import { faultsOf, openReplicas, quantile, report, seatsClaimedTwice, tally, timed, type Replicas } from './concurrent-buyers.ts';

const SEATS = 50;
const BUYERS = 500;
/** "Somebody is taking it this moment: ask again" is no answer yet. */
const ASKS_AGAIN = new Set(['SEATS_BUSY', 'LOCK_TIMEOUT']);

let replicas: Replicas;

beforeAll(async () => {
  replicas = await openReplicas();
});
afterAll(() => replicas.close());

const officeOf = (turn: number) => replicas.offices[turn % 2 === 0 ? 0 : 1];
const fiftySeats = (facts = {}) => putOnSale(replicas.offices[0].monolith, { sectors: [seated('East A', 5, 10)], ...facts });

/** Asks as a patient client does: the same key again while it is told that the moment was bad. */
async function wantSeats(
  match: MatchOnSale,
  buyer: number,
): Promise<{ quantity: number; answer: TestAnswer; ms: number; asked: number }> {
  const [as, key, quantity] = [randomUUID(), newKey(), 1 + (buyer % 4)];
  const begunAt = performance.now();
  for (let asked = 1; ; asked += 1) {
    const answer = await officeOf(buyer + asked).hold(match, { as, key, quantity });
    if (asked === 20 || !ASKS_AGAIN.has(answer.json?.code)) return { quantity, answer, ms: performance.now() - begunAt, asked };
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test(`${BUYERS} buyers want the last ${SEATS} seats: every seat has one owner and none is left over`, async () => {
  const match = await fiftySeats();
  const before = await replicas.retries();
  const { result: buyers, ms } = await timed(() =>
    Promise.all(Array.from({ length: BUYERS }, (_, buyer) => wantSeats(match, buyer))),
  );
  const won = buyers.filter(({ answer }) => answer.status === 201);
  const rows = await officeOf(0).seatRows(match);
  report('last seats', {
    held: `${rows.held}/${SEATS}`,
    answers: tally(buyers.map(({ answer }) => answer)),
    ms: Math.round(ms),
    p50: quantile(
      buyers.map((buyer) => buyer.ms),
      0.5,
    ),
    p99: quantile(
      buyers.map((buyer) => buyer.ms),
      0.99,
    ),
    retries: (await replicas.retries()) - before,
    asked_again: buyers.reduce((sum, { asked }) => sum + asked - 1, 0),
  });
  expect(buyers.filter(({ answer }) => answer.status >= 500)).toEqual([]);
  expect(won.reduce((sum, { quantity }) => sum + quantity, 0)).toBe(rows.held);
  const given = won.flatMap(({ answer }) => answer.json.seats.map(({ seat_id }: { seat_id: string }) => seat_id));
  expect(new Set(given).size).toBe(given.length);
  // One ticket was wanted by many, so that a seat left over would have been somebody's.
  expect(rows).toEqual({ held: SEATS });
  const refusals = new Set(buyers.filter(({ answer }) => answer.status !== 201).map(({ answer }) => answer.json.code));
  for (const code of refusals) expect(['ALL_SEATS_HELD', 'SEATS_UNAVAILABLE', 'SOLD_OUT']).toContain(code);
  expect([await seatsClaimedTwice(replicas.dataSource, match.id), await faultsOf(replicas.dataSource, match.id)]).toEqual([
    [],
    [],
  ]);
}, 60_000);

test('200 buyers want the same two seats by name: one has them', async () => {
  const match = await fiftySeats();
  const seatIds = (await officeOf(0).seatIds(match)).slice(0, 2);
  const answers = await Promise.all(Array.from({ length: 200 }, (_, buyer) => officeOf(buyer).hold(match, { seatIds })));
  report('the same two seats', tally(answers));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
  expect(await officeOf(0).seatRows(match)).toEqual({ held: 2, available: 48 });
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
});

test('who chooses on the map and who takes the best there is want the same seats at once: nobody shares one', async () => {
  const match = await fiftySeats();
  const seatIds = await officeOf(0).seatIds(match);
  const answers = await Promise.all(
    Array.from({ length: 160 }, (_, buyer) => {
      const chosen = [seatIds[(buyer * 3) % SEATS] ?? '', seatIds[(buyer * 3 + 1) % SEATS] ?? ''];
      return officeOf(buyer).hold(match, buyer % 4 < 2 ? { seatIds: chosen } : { quantity: 1 + (buyer % 3) });
    }),
  );
  report('the map and the best', tally(answers));
  const given = answers
    .filter(({ status }) => status === 201)
    .flatMap(({ json }) => json.seats.map(({ seat_id }: { seat_id: string }) => seat_id));
  expect([given.length, new Set(given).size]).toEqual([(await officeOf(0).seatRows(match)).held, given.length]);
  expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
  expect([await seatsClaimedTwice(replicas.dataSource, match.id), await faultsOf(replicas.dataSource, match.id)]).toEqual([
    [],
    [],
  ]);
});

test('a fan who asks forty times over two replicas has as many seats as are allowed, and not one more', async () => {
  const match = await fiftySeats({ max_tickets_per_fan: 7 });
  const as = randomUUID();
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, turn) => officeOf(turn).hold(match, { as, quantity: 1 + (turn % 2) })),
  );
  report('one fan, forty wishes', tally(answers));
  const rows = await officeOf(0).seatRows(match);
  expect(rows.held).toBeLessThanOrEqual(7);
  expect(rows.held).toBeGreaterThanOrEqual(6);
  expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
});

test('a rush that goes on to the tickets: sold, held and free add up, and every buyer who paid has what he paid for', async () => {
  const match = await fiftySeats();
  const before = await replicas.retries();
  const outcomes = await Promise.all(
    Array.from({ length: 150 }, async (_, buyer) => {
      const office = officeOf(buyer);
      const as = randomUUID();
      const hold = await office.hold(match, { as, quantity: 1 + (buyer % 4) });
      if (hold.status !== 201) return String(hold.json.code);
      const held = { ...hold.json, userId: as, seatIds: hold.json.seats.map(({ seat_id }: { seat_id: string }) => seat_id) };
      if (buyer % 5 === 0) return office.release(held).then(() => 'released');
      const ordered = await office.ordered(held);
      return buyer % 7 === 0 ? 'left to pay' : officeOf(buyer + 1).settle(office.report(ordered));
    }),
  );
  const counts = Object.fromEntries(
    [...new Set(outcomes)].map((outcome) => [outcome, outcomes.filter((one) => one === outcome).length]),
  );
  report('a rush to the tickets', { ...counts, retries: (await replicas.retries()) - before });
  expect(outcomes.filter((outcome) => ['refunded', 'unknown intent', 'repeated'].includes(outcome))).toEqual([]);
  const rows = await officeOf(0).seatRows(match);
  expect((rows.sold ?? 0) + (rows.held ?? 0) + (rows.available ?? 0)).toBe(SEATS);
  const [tickets] = await replicas.dataSource.query<{ n: number }[]>(
    `select count(*)::int as n from tickets where match_id = $1 and status = 'valid'`,
    [match.id],
  );
  expect(tickets?.n).toBe(rows.sold);
  expect([await seatsClaimedTwice(replicas.dataSource, match.id), await faultsOf(replicas.dataSource, match.id)]).toEqual([
    [],
    [],
  ]);
}, 60_000);

test('the control: without row locks the same rush sells seats twice, and both checks see it', async () => {
  const match = await fiftySeats();
  const { monolith } = replicas.offices[0];
  const naked = new HoldSeats(
    monolith.get(MatchesForSale),
    monolith.get(SeatInventory),
    new NakedSeatHolds(monolith.dataSource, monolith.get(SeatInventory)),
    { has: () => false },
  );
  const sectorId = match.sectors[0]?.id ?? '';
  const wish = { matchId: match.id, sectorId, sessionToken: undefined };
  const holds = await Promise.allSettled(
    Array.from({ length: 120 }, () => naked.execute({ ...wish, userId: randomUUID(), quantity: 2 })),
  );
  const given = holds.flatMap((hold) => (hold.status === 'fulfilled' ? hold.value.seats.map(({ seatId }) => seatId) : []));
  const twice = await seatsClaimedTwice(replicas.dataSource, match.id);
  report('the control', { seats: SEATS, given: given.length, claimed_twice: twice.length });
  expect(given.length).toBeGreaterThan(new Set(given).size);
  expect(twice.length).toBeGreaterThan(0);
  expect((await faultsOf(replicas.dataSource, match.id)).map(({ name }) => name)).toContain('one-claim');
});
