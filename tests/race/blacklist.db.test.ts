import { randomUUID } from 'node:crypto';
import { Ids } from '#application/ids';
import { TransactionManager } from '#application/transaction-manager';
import { BlacklistKeeper } from '../../apps/monolith/src/blacklist/inbound/blacklist-keeper.schedule.ts';
import { CheckOut } from '../../apps/monolith/src/purchase/checkout/application/check-out.ts';
import { OrderConsequences, Orders, Payments } from '../../apps/monolith/src/purchase/checkout/application/ports.ts';
import { Reservations } from '../../apps/monolith/src/purchase/hold/application/reservation-ports.ts';
import type { HeldSeats } from '../../apps/monolith/src/purchase/testing/box-office.ts';
import { ops, putOnSale, seated, type MatchOnSale } from '../../apps/monolith/src/testing/whole-monolith.ts';
import { faultsOf, openReplicas, report, tally, type Replicas } from './concurrent-buyers.ts';

const ROUNDS = 60;

let replicas: Replicas;
let match: MatchOnSale;

beforeAll(async () => {
  replicas = await openReplicas();
  match = await putOnSale(replicas.offices[0].monolith, { sectors: [seated('East A', 20, 20)] });
});
afterAll(() => replicas.close());

const list = (userId: string) =>
  replicas.offices[0].monolith.call('POST', '/api/v1/ops/blacklist', { ...ops, body: { user_id: userId, reason: 'Race' } });

const ticketsOf = (userIds: readonly string[]) =>
  replicas.dataSource.query<unknown[]>(`select 1 from tickets where user_id = any($1::uuid[])`, [userIds]);

/** A replica that has not heard of it yet gives a listed fan seats: memory is a moment behind. */
async function heldBehind(): Promise<HeldSeats> {
  const fan = randomUUID();
  await list(fan);
  return replicas.offices[1].held(match, { as: fan });
}

test('a fan listed while checking out and paying, on two replicas: no ticket, and no money kept', async () => {
  const [one, two] = replicas.offices;
  const holds = await Promise.all(Array.from({ length: ROUNDS }, (_, index) => (index % 2 ? one : two).held(match)));
  const answers = await Promise.all(
    holds.map(async (held, index) => {
      // A tenth is listed before, a tenth afterwards, the others some milliseconds before, amid and after.
      if (index % 10 === 0) await list(held.userId);
      const checkOut = (index % 2 ? two : one).checkOut(held);
      if (index % 10 === 9) await checkOut;
      else await new Promise((resolve) => setTimeout(resolve, (index % 10) * 4));
      const [answer] = await Promise.all([checkOut, index % 10 > 0 && list(held.userId)]);
      return answer;
    }),
  );
  const ordered = answers.flatMap(({ status, json }, index) =>
    status === 201 ? [{ orderId: json.order_id, intentId: json.payment.intent_id, held: holds[index]! }] : [],
  );
  const settled = await Promise.all(ordered.map((order, index) => (index % 2 ? one : two).settle(one.report(order))));
  report('listed while checking out', tally(answers));
  expect(new Set(answers.map(({ status, json }) => (status === 201 ? '201' : json.code)))).toEqual(
    new Set(['201', 'BLACKLISTED']),
  );
  expect(new Set(settled)).toEqual(new Set(['refunded']));
  expect(await ticketsOf(holds.map(({ userId }) => userId))).toEqual([]);
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
});

test('seats a replica gave away before it heard of the listing are refused at the checkout', async () => {
  const held = await heldBehind();
  expect((await replicas.offices[1].checkOut(held)).json.code).toBe('BLACKLISTED');
  await replicas.offices[1].monolith.get(BlacklistKeeper).runOnce();
  expect((await replicas.offices[1].hold(match, { as: held.userId })).json.code).toBe('BLACKLISTED');
});

test('the control: a checkout that does not ask the database makes the order', async () => {
  const held = await heldBehind();
  const { monolith } = replicas.offices[1];
  const unasked = Object.create(monolith.get(Orders), { barred: { value: () => Promise.resolve(new Set()) } }) as Orders;
  const naked = new CheckOut(
    monolith.get(TransactionManager),
    monolith.get(Reservations),
    unasked,
    monolith.get(Payments),
    monolith.get(OrderConsequences),
    monolith.get(Ids),
  );
  const { order } = await naked.execute({
    reservationId: held.id,
    userId: held.userId,
    holders: held.seatIds.map((seatId) => ({ seatId, name: 'Ana' })),
    email: 'ana@example.hr',
  });
  expect(order.status).toBe('awaiting_payment');
  // What it is worth: the payment goes back all the same.
  const paid = { orderId: order.id, intentId: order.payment.intentId ?? '', held };
  expect(await replicas.offices[1].settle(replicas.offices[1].report(paid))).toBe('refunded');
});
