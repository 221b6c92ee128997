import { sqlstateOf } from '#platform/postgres/sqlstates';
import { randomUUID } from 'node:crypto';
import { grantTurn, putOnSale, seated, type MatchOnSale } from '../testing/whole-monolith.ts';
import { openBoxOffice, type BoxOffice, type HeldSeats, type OpenBoxOffice } from './testing/box-office.ts';

// What the database refuses by itself, whatever the code above it believes. Each of these would be an oversold seat.

let opened: OpenBoxOffice;
let office: BoxOffice;
let match: MatchOnSale;
let held: HeldSeats;
let bought: HeldSeats;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  match = await putOnSale(office.monolith, { queue_required: true, sectors: [seated('East A', 2, 10)] });
  const inTurn = async () => {
    const as = randomUUID();
    return office.held(match, { as, turn: await grantTurn(office.monolith, match.id, as) });
  };
  [held, bought] = [await inTurn(), await inTurn()];
  await office.settle(office.report(await office.ordered(bought)));
});
afterAll(() => opened.close());

const UNIQUE = '23505';
const CHECK = '23514';

/** A copy of a row, with some of its columns changed. */
const copy = (table: string, where: string, change: string) =>
  `insert into ${table} select (jsonb_populate_record(t, ${change})).* from ${table} t where ${where}`;

test.each<[string, () => string, string]>([
  [
    'a place that is there already',
    () => copy('seats', `id = '${held.seatIds[0]}'`, `jsonb_build_object('id', gen_random_uuid())`),
    UNIQUE,
  ],
  ['a seat with a second row', () => copy('seats', `id = '${held.seatIds[0]}'`, `jsonb_build_object('rank', 99)`), UNIQUE],
  ['a seat that is held by nobody', () => `update seats set reservation_id = null where id = '${held.seatIds[0]}'`, CHECK],
  ['a seat that is held for ever', () => `update seats set expires_at = null where id = '${held.seatIds[0]}'`, CHECK],
  ['a seat that is sold and will expire', () => `update seats set expires_at = now() where id = '${bought.seatIds[0]}'`, CHECK],
  ['a seat that is sold to nobody', () => `update seats set reservation_id = null where id = '${bought.seatIds[0]}'`, CHECK],
  [
    'a free seat that has a holder',
    () => `update seats set status = 'available', expires_at = null where id = '${held.seatIds[0]}'`,
    CHECK,
  ],
  ['a seat in a state there is not', () => `update seats set status = 'lent' where id = '${held.seatIds[0]}'`, CHECK],
  [
    'a second living ticket for a seat',
    () => copy('tickets', `seat_id = '${bought.seatIds[0]}'`, `jsonb_build_object('id', gen_random_uuid())`),
    UNIQUE,
  ],
  [
    'a second order of one turn',
    () =>
      copy(
        'orders',
        `reservation_id = '${bought.id}'`,
        `jsonb_build_object('id', gen_random_uuid(), 'number', 'ORD-1', 'reservation_id', gen_random_uuid())`,
      ),
    UNIQUE,
  ],
  [
    'a second order of one reservation',
    () =>
      copy(
        'orders',
        `reservation_id = '${bought.id}'`,
        `jsonb_build_object('id', gen_random_uuid(), 'number', 'ORD-1', 'claims_window', false)`,
      ),
    UNIQUE,
  ],
  [
    'an order number twice',
    () =>
      copy(
        'orders',
        `reservation_id = '${bought.id}'`,
        `jsonb_build_object('id', gen_random_uuid(), 'reservation_id', gen_random_uuid(), 'claims_window', false)`,
      ),
    UNIQUE,
  ],
  ['a reservation of nothing', () => `update reservations set quantity = 0 where id = '${held.id}'`, CHECK],
  ['a reservation of 21 seats', () => `update reservations set quantity = 21 where id = '${held.id}'`, CHECK],
  ['an event of the provider twice', () => copy('payment_inbox', 'true', `'{}'::jsonb`), UNIQUE],
  ['an answer under a key that has one', () => copy('idempotency_keys', 'true', `'{}'::jsonb`), UNIQUE],
  ['a limit of 21 tickets a fan', () => `update matches set max_tickets_per_fan = 21 where id = '${match.id}'`, CHECK],
])('%s is refused', async (_, statement, sqlstate) => {
  const error: unknown = await office.rows(statement()).then(
    () => 'nothing was refused',
    (refused: unknown) => refused,
  );
  expect([sqlstateOf(error), error]).toEqual([sqlstate, expect.any(Error)]);
});
