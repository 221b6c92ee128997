import { sqlstateOf } from '#platform/postgres/sqlstates';
import { randomUUID } from 'node:crypto';
import { grantTurn, putOnSale, seated, type MatchOnSale } from '../testing/whole-monolith.ts';
import { openBoxOffice, type BoxOffice, type HeldSeats, type OpenBoxOffice } from './testing/box-office.ts';

// Constraints of the database: PostgreSQL refuses the following rows even if the application has a bug.

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

/** SQL that inserts a copy of a row with some columns changed. */
const copy = (table: string, where: string, change: string) =>
  `insert into ${table} select (jsonb_populate_record(t, ${change})).* from ${table} t where ${where}`;

test.each<[string, () => string, string]>([
  [
    'a second seat with the same sector and rank',
    () => copy('seats', `id = '${held.seatIds[0]}'`, `jsonb_build_object('id', gen_random_uuid())`),
    UNIQUE,
  ],
  ['a second seat with the same id', () => copy('seats', `id = '${held.seatIds[0]}'`, `jsonb_build_object('rank', 99)`), UNIQUE],
  ['a held seat without a reservation', () => `update seats set reservation_id = null where id = '${held.seatIds[0]}'`, CHECK],
  ['a held seat without an expiry time', () => `update seats set expires_at = null where id = '${held.seatIds[0]}'`, CHECK],
  ['a sold seat with an expiry time', () => `update seats set expires_at = now() where id = '${bought.seatIds[0]}'`, CHECK],
  ['a sold seat without a reservation', () => `update seats set reservation_id = null where id = '${bought.seatIds[0]}'`, CHECK],
  [
    'a free seat with a reservation',
    () => `update seats set status = 'available', expires_at = null where id = '${held.seatIds[0]}'`,
    CHECK,
  ],
  ['a seat with an unknown status', () => `update seats set status = 'lent' where id = '${held.seatIds[0]}'`, CHECK],
  [
    'a second valid ticket for a seat',
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
    'a second order with the same number',
    () =>
      copy(
        'orders',
        `reservation_id = '${bought.id}'`,
        `jsonb_build_object('id', gen_random_uuid(), 'reservation_id', gen_random_uuid(), 'claims_window', false)`,
      ),
    UNIQUE,
  ],
  ['a reservation of 0 seats', () => `update reservations set quantity = 0 where id = '${held.id}'`, CHECK],
  ['a reservation of 21 seats', () => `update reservations set quantity = 21 where id = '${held.id}'`, CHECK],
  ['a second row for one event of the payment provider', () => copy('payment_inbox', 'true', `'{}'::jsonb`), UNIQUE],
  ['a second row for one idempotency key', () => copy('idempotency_keys', 'true', `'{}'::jsonb`), UNIQUE],
  ['a limit of 21 tickets a fan', () => `update matches set max_tickets_per_fan = 21 where id = '${match.id}'`, CHECK],
])('the database refuses %s', async (_, statement, sqlstate) => {
  const error: unknown = await office.rows(statement()).then(
    () => 'nothing was refused',
    (refused: unknown) => refused,
  );
  expect([sqlstateOf(error), error]).toEqual([sqlstate, expect.any(Error)]);
});
