import { randomUUID } from 'node:crypto';
import { RefundActions, type TicketRow } from '../../apps/monolith/src/purchase/testing/refunding.ts';
import type { Ordered } from '../../apps/monolith/src/purchase/testing/box-office.ts';
import { newKey, type TestAnswer } from '../../apps/monolith/src/testing/test-app.ts';
import { putOnSale, seated, type MatchOnSale } from '../../apps/monolith/src/testing/whole-monolith.ts';
import { unguardedRefunds } from './unguarded-refunds.ts';
import { faultsOf, openReplicas, report, tally, type Replicas } from './concurrent-buyers.ts';

const ROUNDS = 12;

let replicas: Replicas;
let operators: readonly [RefundActions, RefundActions];

beforeAll(async () => {
  replicas = await openReplicas();
  operators = [new RefundActions(replicas.offices[0]), new RefundActions(replicas.offices[1])];
});
afterAll(() => replicas.close());

const onSale = (facts = {}): Promise<MatchOnSale> =>
  putOnSale(replicas.offices[0].monolith, { sectors: [seated('East A', 10, 20)], ...facts });
const runRounds = <T>(round: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: ROUNDS }, () => round()));
/** Refunds like an operator's program: after a 503 it sends the same request with the same key again, up to five times in total. */
async function refund(operator: RefundActions, ordered: Ordered, ticketIds?: readonly string[]): Promise<TestAnswer> {
  const key = newKey();
  for (let attempt = 1; ; attempt += 1) {
    const answer = await operator.refund(ordered, ticketIds, { key });
    if (answer.status !== 503 || attempt === 5) return answer;
  }
}
const sumOf = (cents: readonly number[]): number => cents.reduce((sum, amount) => sum + amount, 0);
const centsOf = (answers: readonly { json: { refund?: { amount_cents: number } } }[]): number =>
  sumOf(answers.map(({ json }) => json.refund?.amount_cents ?? 0));

/** Expects that the sandbox paid back `cents` for these orders in total, and that the match breaks no invariant. */
async function expectRefundedInTotal(match: MatchOnSale, orders: readonly Ordered[], cents: number): Promise<void> {
  const refundedCents: number[] = [];
  for (const ordered of orders) refundedCents.push(...(await operators[0].givenBack(ordered)));
  expect(sumOf(refundedCents)).toBe(cents);
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
  const { capacity, available, held, sold, blocked } = await operators[0].report(match);
  expect(available + held + sold + blocked).toBe(capacity);
}

test('two concurrent refunds of one ticket over two replicas: both are answered with 200, the money is paid back once', async () => {
  const match = await onSale();
  const before = await replicas.retries();
  const played = await runRounds(async () => {
    const ordered = await operators[0].paid(match, { quantity: 2 });
    const [ticket] = (await operators[0].tickets(ordered)) as [TicketRow];
    const answers = await Promise.all(operators.map((operator) => refund(operator, ordered, [ticket.id])));
    return { ordered, answers };
  });
  report('two refunds of a ticket', {
    ...tally(played.flatMap(({ answers }) => answers)),
    retries: (await replicas.retries()) - before,
  });
  for (const { answers } of played)
    expect(answers.map(({ status, json }) => [status, json.refund.amount_cents]).sort()).toEqual([
      [200, 0],
      [200, 2500],
    ]);
  await expectRefundedInTotal(
    match,
    played.map(({ ordered }) => ordered),
    ROUNDS * 2500,
  );
}, 60_000);

test('concurrent refunds of an order and of each of its tickets: every ticket is paid back once', async () => {
  const match = await onSale();
  const played = await runRounds(async () => {
    const ordered = await operators[0].paid(match, { quantity: 3 });
    const tickets = await operators[0].tickets(ordered);
    const answers = await Promise.all([
      refund(operators[1], ordered),
      ...tickets.map(({ id }, index) => refund(operators[index % 2 === 0 ? 0 : 1], ordered, [id])),
    ]);
    return { ordered, answers };
  });
  report('an order and its tickets', tally(played.flatMap(({ answers }) => answers)));
  for (const { ordered, answers } of played) {
    expect([answers.map(({ status }) => status), centsOf(answers)]).toEqual([[200, 200, 200, 200], 7500]);
    expect((await operators[0].timeline(ordered)).filter((event) => event === 'refunded')).toEqual(['refunded']);
  }
  await expectRefundedInTotal(
    match,
    played.map(({ ordered }) => ordered),
    ROUNDS * 7500,
  );
}, 60_000);

test('concurrent refund and acceptance of one ticket: exactly one succeeds, and a refunded ticket is not valid for any fan', async () => {
  const match = await onSale();
  const played = await runRounds(async () => {
    const ordered = await operators[0].paid(match);
    const [ticket] = (await operators[0].tickets(ordered)) as [TicketRow];
    const receiver = randomUUID();
    const offerId = await operators[1].offer(ticket, receiver);
    const [refunded, transfer] = await Promise.all([
      refund(operators[0], ordered, [ticket.id]),
      operators[1].accept(offerId, receiver),
    ]);
    return { ordered, refunded, transfer, after: await operators[0].tickets(ordered) };
  });
  report('refund and transfer', tally(played.flatMap(({ refunded, transfer }) => [refunded, transfer])));
  for (const { refunded, transfer, after } of played) {
    expect([refunded.status, transfer.status].sort()).toEqual([200, 409]);
    expect((refunded.status === 200 ? transfer : refunded).json.code).toBe('INVALID_STATE');
    expect(after.map(({ status }) => status)).toEqual(refunded.status === 200 ? ['refunded'] : ['transferred', 'valid']);
  }
  await expectRefundedInTotal(
    match,
    played.map(({ ordered }) => ordered),
    centsOf(played.map(({ refunded }) => refunded)),
  );
}, 60_000);

test('concurrent refund of a whole order and acceptance of its ticket: the refund succeeds, and nobody has a ticket afterwards', async () => {
  const match = await onSale({ max_tickets_per_fan: 1 });
  const played = await runRounds(async () => {
    const ordered = await operators[0].paid(match);
    const [ticket] = (await operators[0].tickets(ordered)) as [TicketRow];
    const receiver = randomUUID();
    const offerId = await operators[1].offer(ticket, receiver);
    const [refunded, transfer] = await Promise.all([refund(operators[0], ordered), operators[1].accept(offerId, receiver)]);
    const newHold = await replicas.offices[1].hold(match, { as: receiver });
    return { ordered, refunded, transfer, newHold, after: await operators[0].tickets(ordered) };
  });
  report('whole refund and transfer', tally(played.flatMap(({ refunded, transfer }) => [refunded, transfer])));
  for (const { refunded, newHold, after } of played) {
    expect([refunded.status, refunded.json.status, newHold.status]).toEqual([200, 'refunded', 201]);
    expect(after.at(-1)?.status).toBe('refunded');
  }
  await expectRefundedInTotal(
    match,
    played.map(({ ordered }) => ordered),
    ROUNDS * 2500,
  );
}, 60_000);

test('a refund, and concurrent holds of the refunded seat by its fan and another fan: at most one fan gets the seat, and no fan exceeds the ticket limit', async () => {
  const match = await onSale({ max_tickets_per_fan: 1 });
  const played = await runRounds(async () => {
    const ordered = await operators[0].paid(match);
    const { seatIds, userId } = ordered.held;
    const [refunded, ...holds] = await Promise.all([
      refund(operators[0], ordered),
      replicas.offices[1].hold(match, { as: userId, seatIds }),
      replicas.offices[0].hold(match, { seatIds }),
      replicas.offices[1].hold(match, { as: userId }),
    ]);
    return { ordered, refunded, holds };
  });
  report('refund and holds', tally(played.flatMap(({ holds }) => holds)));
  for (const { ordered, refunded, holds } of played) {
    expect(refunded.status).toBe(200);
    expect(holds.filter(({ status }) => status >= 500)).toEqual([]);
    const seat = ordered.held.seatIds[0];
    expect(holds.filter(({ status, json }) => status === 201 && json.seats[0].seat_id === seat).length).toBeLessThanOrEqual(1);
  }
  await expectRefundedInTotal(
    match,
    played.map(({ ordered }) => ordered),
    ROUNDS * 2500,
  );
}, 60_000);

describe('negative control: two concurrent refunds of one ticket without row locks, at READ COMMITTED', () => {
  async function race(off: Parameters<typeof unguardedRefunds>[1]) {
    const match = await onSale();
    const refunds = unguardedRefunds(replicas.offices[0].monolith, off);
    const { orderId, ...ordered } = await operators[0].paid(match, { quantity: 2 });
    const [ticket] = (await operators[0].tickets({ orderId })) as [TicketRow];
    const outcomes = await Promise.allSettled([1, 2].map(() => refunds.execute({ orderId, ticketIds: [ticket.id] })));
    const succeeded = outcomes.filter(({ status }) => status === 'fulfilled').length;
    const refundedCents = await operators[0].givenBack(ordered);
    return { succeeded, refundedCents, faults: (await faultsOf(replicas.dataSource, match.id)).map(({ name }) => name) };
  }

  test('the check that the seat is sold stops the second refund', async () => {
    expect(await race({})).toMatchObject({ succeeded: 1, refundedCents: [2500] });
  });

  test('without the seat check the provider is called twice, but with the same idempotency key, so the money is paid back once', async () => {
    expect(await race({ seats: true })).toMatchObject({ succeeded: 2, refundedCents: [2500] });
  });

  test('without the seat check and with a new idempotency key for each call the money is paid back twice, and verify reports it', async () => {
    const { faults, ...rest } = await race({ seats: true, key: true });
    expect(rest).toEqual({ succeeded: 2, refundedCents: [2500, 2500] });
    expect(faults).toContain('refunds');
  });
});
