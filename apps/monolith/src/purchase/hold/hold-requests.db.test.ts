import { randomUUID } from 'node:crypto';
import { newKey } from '../../testing/test-app.ts';
import { putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../testing/box-office.ts';

// Which bodies of a hold request are valid, and which error is answered when a request breaks several rules.

let opened: OpenBoxOffice;
let office: BoxOffice;
let match: MatchOnSale;
let seatIds: string[];

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  match = await putOnSale(office.monolith, {
    max_tickets_per_fan: 20,
    sectors: [seated('East A', 3, 20), seated('West B', 1, 3)],
  });
  seatIds = await office.seatIds(match);
});
afterAll(() => opened.close());

const post = (body: unknown, as = randomUUID(), matchId = match.id) =>
  office.monolith.call('POST', `/api/v1/matches/${matchId}/reservations`, { as, body });
const sector = () => match.sectors[0]?.id;

test.each<[string, () => unknown, string]>([
  ['a quantity of 0', () => ({ sector_id: sector(), quantity: 0 }), 'quantity'],
  ['a negative quantity', () => ({ sector_id: sector(), quantity: -1 }), 'quantity'],
  ['a quantity of 21', () => ({ sector_id: sector(), quantity: 21 }), 'quantity'],
  ['a fractional quantity', () => ({ sector_id: sector(), quantity: 1.5 }), 'quantity'],
  ['a quantity beyond the safe integers', () => ({ sector_id: sector(), quantity: 2 ** 53 }), 'quantity'],
  ['a quantity as text', () => ({ sector_id: sector(), quantity: '3' }), 'quantity'],
  ['a quantity of null', () => ({ sector_id: sector(), quantity: null }), 'quantity'],
  ['a sector without a quantity', () => ({ sector_id: sector() }), 'quantity'],
  ['a quantity without a sector', () => ({ quantity: 2 }), 'sector_id'],
  ['a sector id that is no UUID', () => ({ sector_id: 'East A', quantity: 2 }), 'sector_id'],
  ['21 seat ids', () => ({ seat_ids: seatIds.slice(0, 21) }), 'seat_ids'],
  ['an empty list of seat ids', () => ({ seat_ids: [] }), 'seat_ids'],
  ['a seat id twice', () => ({ seat_ids: [seatIds[0], seatIds[1], seatIds[0]] }), 'seat_ids'],
  ['a seat id twice, once in upper case', () => ({ seat_ids: [seatIds[0], seatIds[0]?.toUpperCase()] }), 'seat_ids'],
  ['a seat id that is no UUID', () => ({ seat_ids: [seatIds[0], 'A-12'] }), 'seat_ids.1'],
  ['seat ids that are no list', () => ({ seat_ids: seatIds[0] }), 'seat_ids'],
])('hold request: %s is refused with VALIDATION_FAILED and the path of the field', async (_, body, path) => {
  const { status, json } = await post(body());
  expect([status, json.code]).toEqual([400, 'VALIDATION_FAILED']);
  expect(json.errors.map((error: { path: string }) => error.path)).toContain(path);
});

test.each<[string, () => unknown]>([
  ['a quantity and seat ids with a sector', () => ({ sector_id: sector(), quantity: 1, seat_ids: seatIds.slice(0, 1) })],
  ['a quantity and seat ids without a sector', () => ({ seat_ids: seatIds.slice(0, 1), quantity: 1 })],
  ['an unknown field', () => ({ sector_id: sector(), quantity: 1, price_cents: 0 })],
  ['an empty object', () => ({})],
  ['a list', () => [{ sector_id: sector(), quantity: 1 }]],
  ['no body', () => undefined],
])('hold request: %s is refused with VALIDATION_FAILED', async (_, body) => {
  const { status, json } = await post(body());
  expect([status, json.code, json.errors?.length > 0 || json.detail.length > 0]).toEqual([400, 'VALIDATION_FAILED', true]);
});

test('hold request: an invalid body takes no seat and does not use up its idempotency key', async () => {
  const [as, key] = [randomUUID(), newKey()];
  const url = `/api/v1/matches/${match.id}/reservations`;
  expect((await office.monolith.call('POST', url, { as, key, body: { sector_id: sector(), quantity: 0 } })).status).toBe(400);
  expect((await office.monolith.call('POST', url, { as, key, body: { sector_id: sector(), quantity: 1 } })).status).toBe(201);
  expect(await office.rows(`select count(*)::int as n from seats where status <> 'available'`)).toEqual([{ n: 1 }]);
});

test('hold request: one request can hold 20 seats, by quantity or by seat ids', async () => {
  const ownMatch = await putOnSale(office.monolith, { max_tickets_per_fan: 20, sectors: [seated('East A', 2, 20)] });
  const { json } = await office.hold(ownMatch, { quantity: 20 });
  expect([json.seats.length, json.together, json.total_cents]).toEqual([20, true, 50_000]);
  const freeSeatIds = (await office.seatIds(ownMatch)).filter(
    (id) => !json.seats.some(({ seat_id }: { seat_id: string }) => seat_id === id),
  );
  expect((await office.hold(ownMatch, { seatIds: freeSeatIds })).json.seats).toHaveLength(20);
});

test('hold request: ids in upper case are accepted and answered in lower case', async () => {
  const id = seatIds[40] ?? '';
  const { status, json } = await post({ seat_ids: [id.toUpperCase()] }, randomUUID(), match.id.toUpperCase());
  expect([status, json.seats?.[0].seat_id, json.match_id]).toEqual([201, id, match.id]);
});

describe('a hold request that breaks several rules is refused for the first of them', () => {
  const otherFan = randomUUID();
  /** A match whose only seat is held by another fan. `change` is SQL that changes the match afterwards. */
  const matchWithHeldSeat = async (change: string) => {
    const heldMatch = await putOnSale(office.monolith, {
      queue_required: true,
      max_tickets_per_fan: 1,
      sectors: [seated('East A', 1, 1)],
    });
    await office.held(heldMatch, { as: otherFan, turn: await turnIn(heldMatch.id, otherFan) });
    await office.rows(`update matches set ${change} where id = $1`, [heldMatch.id]);
    return heldMatch;
  };
  const turnIn = async (matchId: string, userId: string) => {
    const token = `st_${randomUUID()}`;
    await office.rows(
      `insert into purchase_windows (session_token, match_id, user_id, expires_at) values ($1, $2, $3, now() + interval '5 minutes')`,
      [token, matchId, userId],
    );
    return token;
  };

  // Each match has no free seat, no turn for the requesting fan, and a limit of one ticket. The body and the change of the match
  // vary.
  test.each<[string, (onSale: MatchOnSale) => unknown, string, string]>([
    [
      'an invalid field before an unknown sector',
      () => ({ sector_id: randomUUID(), quantity: 0 }),
      `sale_status = 'closed'`,
      'VALIDATION_FAILED',
    ],
    [
      'an unknown sector before a closed sale',
      () => ({ sector_id: randomUUID(), quantity: 1 }),
      `sale_status = 'closed'`,
      'NOT_FOUND',
    ],
    [
      'a closed sale before a missing turn',
      ({ sectors }) => ({ sector_id: sectors[0]?.id, quantity: 2 }),
      `sale_status = 'closed'`,
      'SALE_NOT_OPEN',
    ],
    [
      'a missing turn before the ticket limit',
      ({ sectors }) => ({ sector_id: sectors[0]?.id, quantity: 2 }),
      `sale_status = 'paused'`,
      'PURCHASE_WINDOW_REQUIRED',
    ],
    [
      'the ticket limit before held seats',
      ({ sectors }) => ({ sector_id: sectors[0]?.id, quantity: 2 }),
      `queue_required = false`,
      'TICKET_LIMIT_REACHED',
    ],
    [
      'held seats last',
      ({ sectors }) => ({ sector_id: sectors[0]?.id, quantity: 1 }),
      `queue_required = false`,
      'ALL_SEATS_HELD',
    ],
  ])('checks %s', async (_, body, change, code) => {
    const onSale = await matchWithHeldSeat(change);
    expect((await post(body(onSale), randomUUID(), onSale.id)).json.code).toBe(code);
  });

  test('answers NOT_FOUND for an unknown match, with a quantity or seat ids, and VALIDATION_FAILED for a match id that is no UUID', async () => {
    const unknownMatchId = randomUUID();
    expect((await post({ sector_id: sector(), quantity: 1 }, randomUUID(), unknownMatchId)).json.code).toBe('NOT_FOUND');
    expect((await post({ seat_ids: seatIds.slice(0, 1) }, randomUUID(), unknownMatchId)).json.code).toBe('NOT_FOUND');
    expect((await post({ sector_id: sector(), quantity: 1 }, randomUUID(), 'not-an-id')).json.code).toBe('VALIDATION_FAILED');
  });
});
