import { randomUUID } from 'node:crypto';
import { Ids } from '#application/ids';
import { TransactionManager } from '#application/transaction-manager';
import { BlacklistKeeper } from '../../apps/monolith/src/blacklist/blacklist-keeper.schedule.ts';
import { PaymentApi } from '../../apps/monolith/src/payment/payment.api.ts';
import { MatchesForSale } from '../../apps/monolith/src/purchase/application/sale-ports.ts';
import { PlaceOrders } from '../../apps/monolith/src/purchase/checkout/application/place-orders.ts';
import { CheckOut } from '../../apps/monolith/src/purchase/checkout/application/check-out.ts';
import { OrderConsequences, Orders } from '../../apps/monolith/src/purchase/checkout/application/ports.ts';
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

const addToBlacklist = (userId: string) =>
  replicas.offices[0].monolith.call('POST', '/api/v1/ops/blacklist', { ...ops, body: { user_id: userId, reason: 'Race' } });

const ticketsOf = (userIds: readonly string[]) =>
  replicas.dataSource.query<unknown[]>(`select 1 from tickets where user_id = any($1::uuid[])`, [userIds]);

/** Puts a fan on the blacklist at replica 0 and at once holds seats at replica 1, which does not know of the blacklisting yet. */
async function heldBeforeListingArrived(): Promise<HeldSeats> {
  const fan = randomUUID();
  await addToBlacklist(fan);
  return replicas.offices[1].held(match, { as: fan });
}

test('a fan blacklisted during checkout or payment gets no ticket, and every payment is refunded (two replicas)', async () => {
  const [officeA, officeB] = replicas.offices;
  const holds = await Promise.all(Array.from({ length: ROUNDS }, (_, index) => (index % 2 ? officeA : officeB).held(match)));
  const answers = await Promise.all(
    holds.map(async (held, index) => {
      // A tenth of the fans is blacklisted before the checkout, a tenth after it, and the remaining fans up to 32 ms after its start.
      if (index % 10 === 0) await addToBlacklist(held.userId);
      const checkOut = (index % 2 ? officeB : officeA).checkOut(held);
      if (index % 10 === 9) await checkOut;
      else await new Promise((resolve) => setTimeout(resolve, (index % 10) * 4));
      const [answer] = await Promise.all([checkOut, index % 10 > 0 && addToBlacklist(held.userId)]);
      return answer;
    }),
  );
  const ordered = answers.flatMap(({ status, json }, index) =>
    status === 201 ? [{ orderId: json.order_id, intentId: json.payment.intent_id, held: holds[index]! }] : [],
  );
  const settled = await Promise.all(ordered.map((order, index) => (index % 2 ? officeA : officeB).settle(officeA.report(order))));
  report('listed while checking out', tally(answers));
  expect(new Set(answers.map(({ status, json }) => (status === 201 ? '201' : json.code)))).toEqual(
    new Set(['201', 'BLACKLISTED']),
  );
  expect(new Set(settled)).toEqual(new Set(['refunded']));
  expect(await ticketsOf(holds.map(({ userId }) => userId))).toEqual([]);
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
});

test('a blacklisted fan who got seats from a replica that did not know of the blacklisting is refused at checkout', async () => {
  const held = await heldBeforeListingArrived();
  expect((await replicas.offices[1].checkOut(held)).json.code).toBe('BLACKLISTED');
  await replicas.offices[1].monolith.get(BlacklistKeeper).runOnce();
  expect((await replicas.offices[1].hold(match, { as: held.userId })).json.code).toBe('BLACKLISTED');
});

test('negative control: a checkout that does not read the blacklist creates the order', async () => {
  const held = await heldBeforeListingArrived();
  const { monolith } = replicas.offices[1];
  const ordersWithoutCheck = Object.create(monolith.get(Orders), {
    barred: { value: () => Promise.resolve(new Set()) },
  }) as Orders;
  const unguardedCheckOut = new CheckOut(
    monolith.get(TransactionManager),
    new PlaceOrders(monolith.get(Reservations), ordersWithoutCheck, monolith.get(Ids), monolith.get(MatchesForSale)),
    monolith.get(Reservations),
    ordersWithoutCheck,
    monolith.get(PaymentApi),
    monolith.get(OrderConsequences),
  );
  const { order } = await unguardedCheckOut.execute({
    reservationId: held.id,
    userId: held.userId,
    holders: held.seatIds.map((seatId) => ({ seatId, name: 'Ana' })),
    email: 'ana@example.hr',
  });
  expect(order.status).toBe('awaiting_payment');
  // The guard at the payment still works: the payment of a blacklisted fan is refunded.
  const paid = { orderId: order.id, intentId: order.payment.intentId ?? '', held };
  expect(await replicas.offices[1].settle(replicas.offices[1].report(paid))).toBe('refunded');
});
