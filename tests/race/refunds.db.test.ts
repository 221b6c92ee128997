import { randomUUID } from 'node:crypto';
import { RefundActions, type TicketRow } from '../../apps/monolith/src/purchase/testing/refunding.ts';
import type { Ordered } from '../../apps/monolith/src/purchase/testing/box-office.ts';
import { newKey, type TestAnswer } from '../../apps/monolith/src/testing/test-app.ts';
import { putOnSale, seated, type MatchOnSale } from '../../apps/monolith/src/testing/whole-monolith.ts';
import { nakedRefunds } from './naked-refunds.ts';
import { faultsOf, openReplicas, report, tally, type Replicas } from './concurrent-buyers.ts';

const ROUNDS = 12;

let replicas: Replicas;
let desks: readonly [RefundActions, RefundActions];

beforeAll(async () => {
  replicas = await openReplicas();
  desks = [new RefundActions(replicas.offices[0]), new RefundActions(replicas.offices[1])];
});
afterAll(() => replicas.close());

const onSale = (facts = {}): Promise<MatchOnSale> =>
  putOnSale(replicas.offices[0].monolith, { sectors: [seated('East A', 10, 20)], ...facts });
const rounds = <T>(round: (turn: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: ROUNDS }, (_, turn) => round(turn)));
/** As an operator's program does: told that there is too much going on, it sends the same request with the same key again. */
async function refund(desk: RefundActions, ordered: Ordered, ticketIds?: readonly string[]): Promise<TestAnswer> {
  const key = newKey();
  for (let asked = 1; ; asked += 1) {
    const answer = await desk.refund(ordered, ticketIds, { key });
    if (answer.status !== 503 || asked === 5) return answer;
  }
}
const sumOf = (cents: readonly number[]): number => cents.reduce((sum, one) => sum + one, 0);
const centsOf = (answers: readonly { json: { refund?: { amount_cents: number } } }[]): number =>
  sumOf(answers.map(({ json }) => json.refund?.amount_cents ?? 0));

/** What the sandbox gave back for all of these, and that nothing is wrong with the match. */
async function expectMoney(match: MatchOnSale, orders: readonly Ordered[], cents: number): Promise<void> {
  const given: number[] = [];
  for (const ordered of orders) given.push(...(await desks[0].givenBack(ordered)));
  expect(sumOf(given)).toBe(cents);
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
  const { capacity, available, held, sold, blocked } = await desks[0].report(match);
  expect(available + held + sold + blocked).toBe(capacity);
}

test('two refunds of the same ticket over two replicas: both are told that it is refunded, the money goes back once', async () => {
  const match = await onSale();
  const before = await replicas.retries();
  const played = await rounds(async () => {
    const ordered = await desks[0].paid(match, { quantity: 2 });
    const [ticket] = (await desks[0].tickets(ordered)) as [TicketRow];
    const answers = await Promise.all(desks.map((desk) => refund(desk, ordered, [ticket.id])));
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
  await expectMoney(
    match,
    played.map(({ ordered }) => ordered),
    ROUNDS * 2500,
  );
}, 60_000);

test('the whole order and each of its tickets at once: every ticket is paid back once, whatever the order', async () => {
  const match = await onSale();
  const played = await rounds(async () => {
    const ordered = await desks[0].paid(match, { quantity: 3 });
    const tickets = await desks[0].tickets(ordered);
    const answers = await Promise.all([
      refund(desks[1], ordered),
      ...tickets.map(({ id }, index) => refund(desks[index % 2 === 0 ? 0 : 1], ordered, [id])),
    ]);
    return { ordered, answers };
  });
  report('an order and its tickets', tally(played.flatMap(({ answers }) => answers)));
  for (const { ordered, answers } of played) {
    expect([answers.map(({ status }) => status), centsOf(answers)]).toEqual([[200, 200, 200, 200], 7500]);
    expect((await desks[0].timeline(ordered)).filter((event) => event === 'refunded')).toEqual(['refunded']);
  }
  await expectMoney(
    match,
    played.map(({ ordered }) => ordered),
    ROUNDS * 7500,
  );
}, 60_000);

test('a refund and a transfer of the same ticket: one of them happens, and a refunded ticket lives with nobody', async () => {
  const match = await onSale();
  const played = await rounds(async () => {
    const ordered = await desks[0].paid(match);
    const [ticket] = (await desks[0].tickets(ordered)) as [TicketRow];
    const [refunded, transfer] = await Promise.all([
      refund(desks[0], ordered, [ticket.id]),
      desks[1].transfer(ticket, randomUUID()),
    ]);
    return { ordered, refunded, transfer, after: await desks[0].tickets(ordered) };
  });
  report('refund and transfer', tally(played.flatMap(({ refunded, transfer }) => [refunded, transfer])));
  for (const { refunded, transfer, after } of played) {
    expect([refunded.status, transfer.status].sort()).toEqual([200, 409]);
    expect((refunded.status === 200 ? transfer : refunded).json.code).toBe('INVALID_STATE');
    expect(after.map(({ status }) => status)).toEqual(refunded.status === 200 ? ['refunded'] : ['transferred', 'valid']);
  }
  await expectMoney(
    match,
    played.map(({ ordered }) => ordered),
    centsOf(played.map(({ refunded }) => refunded)),
  );
}, 60_000);

test('a refund of the whole order and a transfer: nobody has a ticket afterwards, the receiver least of all', async () => {
  const match = await onSale({ max_tickets_per_fan: 1 });
  const played = await rounds(async () => {
    const ordered = await desks[0].paid(match);
    const [ticket] = (await desks[0].tickets(ordered)) as [TicketRow];
    const receiver = randomUUID();
    const [refunded, transfer] = await Promise.all([refund(desks[0], ordered), desks[1].transfer(ticket, receiver)]);
    const again = await replicas.offices[1].hold(match, { as: receiver });
    return { ordered, refunded, transfer, again, after: await desks[0].tickets(ordered) };
  });
  report('whole refund and transfer', tally(played.flatMap(({ refunded, transfer }) => [refunded, transfer])));
  for (const { refunded, again, after } of played) {
    expect([refunded.status, refunded.json.status, again.status]).toEqual([200, 'refunded', 201]);
    expect(after.at(-1)?.status).toBe('refunded');
  }
  await expectMoney(
    match,
    played.map(({ ordered }) => ordered),
    ROUNDS * 2500,
  );
}, 60_000);

test('a refund, and its fan and another one after the same seat: the seat has one holder, the limit holds', async () => {
  const match = await onSale({ max_tickets_per_fan: 1 });
  const played = await rounds(async () => {
    const ordered = await desks[0].paid(match);
    const { seatIds, userId } = ordered.held;
    const [refunded, ...holds] = await Promise.all([
      refund(desks[0], ordered),
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
  await expectMoney(
    match,
    played.map(({ ordered }) => ordered),
    ROUNDS * 2500,
  );
}, 60_000);

describe('the control: two refunds of one of two tickets, without row locks and at READ COMMITTED', () => {
  async function race(off: Parameters<typeof nakedRefunds>[1]) {
    const match = await onSale();
    const refunds = nakedRefunds(replicas.offices[0].monolith, off);
    const { orderId, ...ordered } = await desks[0].paid(match, { quantity: 2 });
    const [ticket] = (await desks[0].tickets({ orderId })) as [TicketRow];
    const outcomes = await Promise.allSettled([1, 2].map(() => refunds.execute({ orderId, ticketIds: [ticket.id] })));
    const decided = outcomes.filter(({ status }) => status === 'fulfilled').length;
    const given = await desks[0].givenBack(ordered);
    return { decided, given, faults: (await faultsOf(replicas.dataSource, match.id)).map(({ name }) => name) };
  }

  test('both decide; only the look at the seats stops the second', async () => {
    expect(await race({})).toMatchObject({ decided: 1, given: [2500] });
  });

  test('without that look too, the provider is asked twice, and its key alone keeps the money', async () => {
    expect(await race({ seats: true })).toMatchObject({ decided: 2, given: [2500] });
  });

  test('and without the key the money goes back twice, and verify sees it', async () => {
    const { faults, ...rest } = await race({ seats: true, key: true });
    expect(rest).toEqual({ decided: 2, given: [2500, 2500] });
    expect(faults).toContain('refunds');
  });
});
