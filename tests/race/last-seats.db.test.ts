import { randomUUID } from 'node:crypto';
import { MatchesForSale } from '../../apps/monolith/src/purchase/application/sale-ports.ts';
import { PostgresSeatInventory } from '../../apps/monolith/src/purchase/availability/outbound/postgres-seat-inventory.ts';
import { HoldSeats } from '../../apps/monolith/src/purchase/hold/application/hold-seats.ts';
import { newKey, type TestAnswer } from '../../apps/monolith/src/testing/test-app.ts';
import { putOnSale, seated, type MatchOnSale } from '../../apps/monolith/src/testing/whole-monolith.ts';
import { UnguardedSeatHolds } from './unguarded-seat-holds.ts';
import { faultsOf, openReplicas, quantile, report, seatsClaimedTwice, tally, timed, type Replicas } from './concurrent-buyers.ts';

const SEATS = 50;
const BUYERS = 500;
/** Codes of temporary refusals, after which a client sends the request again. */
const RETRYABLE_CODES = new Set(['SEATS_BUSY', 'LOCK_TIMEOUT']);

let replicas: Replicas;

beforeAll(async () => {
  replicas = await openReplicas();
});
afterAll(() => replicas.close());

/** The replica for the buyer with this index: buyers alternate between the two replicas. */
const officeOf = (index: number) => replicas.offices[index % 2 === 0 ? 0 : 1];
const openMatchWithFiftySeats = (facts = {}) =>
  putOnSale(replicas.offices[0].monolith, { sectors: [seated('East A', 5, 10)], ...facts });

/** Requests seats like a client that retries: up to 20 times with the same key after a temporary refusal. */
async function holdWithRetries(
  match: MatchOnSale,
  buyer: number,
): Promise<{ quantity: number; answer: TestAnswer; ms: number; attempts: number }> {
  const [as, key, quantity] = [randomUUID(), newKey(), 1 + (buyer % 4)];
  const begunAt = performance.now();
  for (let attempts = 1; ; attempts += 1) {
    const answer = await officeOf(buyer + attempts).hold(match, { as, key, quantity });
    if (attempts === 20 || !RETRYABLE_CODES.has(answer.json?.code))
      return { quantity, answer, ms: performance.now() - begunAt, attempts };
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test(`${BUYERS} buyers request the last ${SEATS} seats: every seat is held by exactly one buyer`, async () => {
  const match = await openMatchWithFiftySeats();
  const before = await replicas.retries();
  const { result: buyers, ms } = await timed(() =>
    Promise.all(Array.from({ length: BUYERS }, (_, buyer) => holdWithRetries(match, buyer))),
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
    retried_requests: buyers.reduce((sum, { attempts }) => sum + attempts - 1, 0),
  });
  expect(buyers.filter(({ answer }) => answer.status >= 500)).toEqual([]);
  expect(won.reduce((sum, { quantity }) => sum + quantity, 0)).toBe(rows.held);
  const heldSeatIds = won.flatMap(({ answer }) => answer.json.seats.map(({ seat_id }: { seat_id: string }) => seat_id));
  expect(new Set(heldSeatIds).size).toBe(heldSeatIds.length);
  // Many buyers requested a single seat, so no seat may remain free.
  expect(rows).toEqual({ held: SEATS });
  const refusals = new Set(buyers.filter(({ answer }) => answer.status !== 201).map(({ answer }) => answer.json.code));
  for (const code of refusals) expect(['ALL_SEATS_HELD', 'SEATS_UNAVAILABLE', 'SOLD_OUT']).toContain(code);
  expect([await seatsClaimedTwice(replicas.dataSource, match.id), await faultsOf(replicas.dataSource, match.id)]).toEqual([
    [],
    [],
  ]);
}, 60_000);

test('200 buyers request the same two seats by seat id: exactly one buyer gets the seats', async () => {
  const match = await openMatchWithFiftySeats();
  const seatIds = (await officeOf(0).seatIds(match)).slice(0, 2);
  const answers = await Promise.all(Array.from({ length: 200 }, (_, buyer) => officeOf(buyer).hold(match, { seatIds })));
  report('the same two seats', tally(answers));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
  expect(await officeOf(0).seatRows(match)).toEqual({ held: 2, available: 48 });
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
});

test('concurrent hold requests for the same seats, some by seat id and some by quantity: no seat is held twice', async () => {
  const match = await openMatchWithFiftySeats();
  const seatIds = await officeOf(0).seatIds(match);
  const answers = await Promise.all(
    Array.from({ length: 160 }, (_, buyer) => {
      const chosen = [seatIds[(buyer * 3) % SEATS] ?? '', seatIds[(buyer * 3 + 1) % SEATS] ?? ''];
      return officeOf(buyer).hold(match, buyer % 4 < 2 ? { seatIds: chosen } : { quantity: 1 + (buyer % 3) });
    }),
  );
  report('requests by seat id and by quantity', tally(answers));
  const heldSeatIds = answers
    .filter(({ status }) => status === 201)
    .flatMap(({ json }) => json.seats.map(({ seat_id }: { seat_id: string }) => seat_id));
  expect([heldSeatIds.length, new Set(heldSeatIds).size]).toEqual([(await officeOf(0).seatRows(match)).held, heldSeatIds.length]);
  expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
  expect([await seatsClaimedTwice(replicas.dataSource, match.id), await faultsOf(replicas.dataSource, match.id)]).toEqual([
    [],
    [],
  ]);
});

test('a fan with 40 concurrent hold requests over two replicas holds at most 7 seats, the ticket limit', async () => {
  const match = await openMatchWithFiftySeats({ max_tickets_per_fan: 7 });
  const as = randomUUID();
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => officeOf(index).hold(match, { as, quantity: 1 + (index % 2) })),
  );
  report('one fan, forty requests', tally(answers));
  const rows = await officeOf(0).seatRows(match);
  expect(rows.held).toBeLessThanOrEqual(7);
  expect(rows.held).toBeGreaterThanOrEqual(6);
  expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
});

test('150 buyers hold, release or pay at once: sold, held and free seats add up, and each paid seat has a valid ticket', async () => {
  const match = await openMatchWithFiftySeats();
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
      return buyer % 7 === 0 ? 'not paid' : officeOf(buyer + 1).settle(office.report(ordered));
    }),
  );
  const counts = Object.fromEntries(
    [...new Set(outcomes)].map((outcome) => [outcome, outcomes.filter((other) => other === outcome).length]),
  );
  report('peak load up to the tickets', { ...counts, retries: (await replicas.retries()) - before });
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

test('negative control: concurrent holds without row locks hold seats twice, and both the seat check and verify report it', async () => {
  const match = await openMatchWithFiftySeats();
  const { monolith } = replicas.offices[0];
  const unguardedHoldSeats = new HoldSeats(
    monolith.get(MatchesForSale),
    monolith.get(PostgresSeatInventory),
    new UnguardedSeatHolds(monolith.dataSource, monolith.get(PostgresSeatInventory)),
    { has: () => false },
  );
  const sectorId = match.sectors[0]?.id ?? '';
  const request = { matchId: match.id, sectorId, sessionToken: undefined };
  const holds = await Promise.allSettled(
    Array.from({ length: 120 }, () => unguardedHoldSeats.execute({ ...request, userId: randomUUID(), quantity: 2 })),
  );
  const heldSeatIds = holds.flatMap((hold) => (hold.status === 'fulfilled' ? hold.value.seats.map(({ seatId }) => seatId) : []));
  const seatsHeldTwice = await seatsClaimedTwice(replicas.dataSource, match.id);
  report('negative control', { seats: SEATS, held: heldSeatIds.length, held_twice: seatsHeldTwice.length });
  expect(heldSeatIds.length).toBeGreaterThan(new Set(heldSeatIds).size);
  expect(seatsHeldTwice.length).toBeGreaterThan(0);
  expect((await faultsOf(replicas.dataSource, match.id)).map(({ name }) => name)).toContain('one-claim');
});
