import { TransactionManager } from '#application/transaction-manager';
import { PaymentApi } from '../../payment/payment.api.ts';
import { newKey, type TestAnswer } from '../../testing/test-app.ts';
import { putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { Reservations } from '../hold/application/reservation-ports.ts';
import { openBoxOffice, type BoxOffice, type HeldSeats, type OpenBoxOffice } from '../testing/box-office.ts';
import { PlaceOrders } from './application/place-orders.ts';
import { CheckOut } from './application/check-out.ts';
import { OrderConsequences, Orders, type Payments } from './application/ports.ts';

// A checkout commits its order, then asks the provider for an intent, then commits its answer. Whatever fails in between: a
// request with the idempotency key that created the order is answered 201, and a request with another key 200 (CONTRACT §4, §5).

let opened: OpenBoxOffice;
let office: BoxOffice;
let match: MatchOnSale;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  match = await putOnSale(office.monolith, { sectors: [seated('East A', 10, 20)] });
  await office.rows(`create function no_provider() returns trigger language plpgsql as
    $$ begin raise exception 'the provider cannot be reached' using errcode = '57P03'; end $$`);
});
afterAll(() => opened.close());

const MAKE_PROVIDER_FAIL =
  'create trigger no_provider before insert on sandbox_intents for each row execute function no_provider()';
const orders = (held: HeldSeats) => office.rows(`select id from orders where reservation_id = $1`, [held.id]);
const statusAndLocation = ({ status, headers }: TestAnswer) => [status, headers.location];

/** A checkout that committed its order and then answered 503, because the provider could not be reached. */
async function interruptedCheckout(key: string): Promise<HeldSeats> {
  const held = await office.held(match);
  await office.rows(MAKE_PROVIDER_FAIL);
  const { status, json } = await office.checkOut(held, { key });
  await office.rows('drop trigger no_provider on sandbox_intents');
  expect([status, json.code, await orders(held)]).toEqual([503, 'DEPENDENCY_UNAVAILABLE', [{ id: expect.any(String) }]]);
  return held;
}

test('checkout repeated after the provider was unreachable: the same idempotency key gets 201 with a Location, and the next repeat the same answer', async () => {
  const key = newKey();
  const held = await interruptedCheckout(key);
  const first = await office.checkOut(held, { key });
  expect(statusAndLocation(first)).toEqual([201, `/api/v1/orders/${first.json.order_id}`]);
  const again = await office.checkOut(held, { key });
  expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([201, first.text, 'true']);
  expect(await orders(held)).toEqual([{ id: first.json.order_id }]);
});

test('checkout repeated after the provider was unreachable: the same idempotency key gets 201 although Redis has lost the key', async () => {
  const key = newKey();
  const held = await interruptedCheckout(key);
  await office.monolith.resources.redis.flushdb();
  const first = await office.checkOut(held, { key });
  await office.monolith.resources.redis.flushdb();
  const again = await office.checkOut(held, { key });
  expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
});

test('checkout: a request with a second idempotency key gets 200 with the same order, one with the key that created the order still gets 201', async () => {
  const key = newKey();
  const held = await interruptedCheckout(key);
  const other = await office.checkOut(held);
  const first = await office.checkOut(held, { key });
  expect([statusAndLocation(other), statusAndLocation(first)]).toEqual([
    [200, undefined],
    [201, `/api/v1/orders/${other.json.order_id}`],
  ]);
  expect(first.json).toEqual(other.json);
});

test.each([
  // The first checkout runs without HTTP, so Redis does not know its idempotency key.
  ['with the same idempotency key gets 201', true, 201],
  ['with another idempotency key gets 200', false, 200],
])(
  'a second checkout of a hold %s while the first checkout waits for the provider, and the first gets 201',
  async (_, isSame, status) => {
    const resolve = <T>(token: abstract new (...dependencies: never[]) => T) => office.monolith.get(token as never) as T;
    const [held, key] = [await office.held(match), newKey()];
    const others: TestAnswer[] = [];
    const payments: Payments = {
      createIntent: async (order) => {
        others.push(await office.checkOut(held, { key: isSame ? key : newKey() }));
        return resolve(PaymentApi).createIntent(order);
      },
    };
    const ports = [resolve(Reservations), resolve(Orders), payments, resolve(OrderConsequences)] as const;
    const holders = held.seatIds.map((seatId) => ({ seatId, name: 'Ana' }));
    const command = { reservationId: held.id, userId: held.userId, holders, email: 'ana@example.hr', key };
    const first = await new CheckOut(resolve(TransactionManager), resolve(PlaceOrders), ...ports).execute(command);
    expect([others.map((other) => other.status), others[0]?.json.order_id, first.isNew]).toEqual([
      [status],
      first.order.id,
      true,
    ]);
    expect(await orders(held)).toHaveLength(1);
  },
);
