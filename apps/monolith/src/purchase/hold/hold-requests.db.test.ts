import { randomUUID } from 'node:crypto';
import { newKey } from '../../testing/test-app.ts';
import { putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../testing/box-office.ts';

// How a wish for seats has to read, and in which order it is refused.

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
  ['no seats at all', () => ({ sector_id: sector(), quantity: 0 }), 'quantity'],
  ['less than none', () => ({ sector_id: sector(), quantity: -1 }), 'quantity'],
  ['21 of the best', () => ({ sector_id: sector(), quantity: 21 }), 'quantity'],
  ['a seat and a half', () => ({ sector_id: sector(), quantity: 1.5 }), 'quantity'],
  ['as many as no number can say', () => ({ sector_id: sector(), quantity: 2 ** 53 }), 'quantity'],
  ['a text in place of a number', () => ({ sector_id: sector(), quantity: '3' }), 'quantity'],
  ['nothing in place of a number', () => ({ sector_id: sector(), quantity: null }), 'quantity'],
  ['a sector and no number', () => ({ sector_id: sector() }), 'quantity'],
  ['a number and no sector', () => ({ quantity: 2 }), 'sector_id'],
  ['a sector that is no id', () => ({ sector_id: 'East A', quantity: 2 }), 'sector_id'],
  ['21 seats by name', () => ({ seat_ids: seatIds.slice(0, 21) }), 'seat_ids'],
  ['an empty list', () => ({ seat_ids: [] }), 'seat_ids'],
  ['one seat twice', () => ({ seat_ids: [seatIds[0], seatIds[1], seatIds[0]] }), 'seat_ids'],
  ['one seat twice, once in capitals', () => ({ seat_ids: [seatIds[0], seatIds[0]?.toUpperCase()] }), 'seat_ids'],
  ['a seat that is no id', () => ({ seat_ids: [seatIds[0], 'A-12'] }), 'seat_ids.1'],
  ['seats that are no list', () => ({ seat_ids: seatIds[0] }), 'seat_ids'],
])('%s is refused, and the answer says where', async (_, body, path) => {
  const { status, json } = await post(body());
  expect([status, json.code]).toEqual([400, 'VALIDATION_FAILED']);
  expect(json.errors.map((error: { path: string }) => error.path)).toContain(path);
});

test.each<[string, () => unknown]>([
  ['both forms at once', () => ({ sector_id: sector(), quantity: 1, seat_ids: seatIds.slice(0, 1) })],
  ['seats and how many', () => ({ seat_ids: seatIds.slice(0, 1), quantity: 1 })],
  ['a field nobody knows', () => ({ sector_id: sector(), quantity: 1, price_cents: 0 })],
  ['nothing', () => ({})],
  ['a list', () => [{ sector_id: sector(), quantity: 1 }]],
  ['no body', () => undefined],
])('%s is refused', async (_, body) => {
  const { status, json } = await post(body());
  expect([status, json.code, json.errors?.length > 0 || json.detail.length > 0]).toEqual([400, 'VALIDATION_FAILED', true]);
});

test('none of them took a seat or used a key up', async () => {
  const [as, key] = [randomUUID(), newKey()];
  const url = `/api/v1/matches/${match.id}/reservations`;
  expect((await office.monolith.call('POST', url, { as, key, body: { sector_id: sector(), quantity: 0 } })).status).toBe(400);
  expect((await office.monolith.call('POST', url, { as, key, body: { sector_id: sector(), quantity: 1 } })).status).toBe(201);
  expect(await office.rows(`select count(*)::int as n from seats where status <> 'available'`)).toEqual([{ n: 1 }]);
});

test('twenty at once are held, by number and by name', async () => {
  const crowd = await putOnSale(office.monolith, { max_tickets_per_fan: 20, sectors: [seated('East A', 2, 20)] });
  const { json } = await office.hold(crowd, { quantity: 20 });
  expect([json.seats.length, json.together, json.total_cents]).toEqual([20, true, 50_000]);
  const left = (await office.seatIds(crowd)).filter(
    (id) => !json.seats.some(({ seat_id }: { seat_id: string }) => seat_id === id),
  );
  expect((await office.hold(crowd, { seatIds: left })).json.seats).toHaveLength(20);
});

test('ids may be written in capitals', async () => {
  const id = seatIds[40] ?? '';
  const { status, json } = await post({ seat_ids: [id.toUpperCase()] }, randomUUID(), match.id.toUpperCase());
  expect([status, json.seats?.[0].seat_id, json.match_id]).toEqual([201, id, match.id]);
});

describe('the first thing that is wrong is what the answer speaks of', () => {
  const gone = randomUUID();
  const closedTo = async (facts: object, change: string) => {
    const made = await putOnSale(office.monolith, {
      queue_required: true,
      max_tickets_per_fan: 1,
      sectors: [seated('East A', 1, 1)],
      ...facts,
    });
    await office.held({ ...made }, { as: gone, turn: await turnIn(made.id, gone) });
    await office.rows(`update matches set ${change} where id = $1`, [made.id]);
    return made;
  };
  const turnIn = async (matchId: string, userId: string) => {
    const token = `st_${randomUUID()}`;
    await office.rows(
      `insert into purchase_windows (session_token, match_id, user_id, expires_at) values ($1, $2, $3, now() + interval '5 minutes')`,
      [token, matchId, userId],
    );
    return token;
  };

  // Each match has no seat left, no turn for this fan, and a limit of one: only what comes first differs.
  test.each<[string, (at: MatchOnSale) => unknown, string, string]>([
    ['fields before the object', () => ({ sector_id: randomUUID(), quantity: 0 }), `sale_status = 'closed'`, 'VALIDATION_FAILED'],
    ['the object before the sale', () => ({ sector_id: randomUUID(), quantity: 1 }), `sale_status = 'closed'`, 'NOT_FOUND'],
    [
      'the sale before the turn',
      ({ sectors }) => ({ sector_id: sectors[0]?.id, quantity: 2 }),
      `sale_status = 'closed'`,
      'SALE_NOT_OPEN',
    ],
    [
      'the turn before the limit',
      ({ sectors }) => ({ sector_id: sectors[0]?.id, quantity: 2 }),
      `sale_status = 'paused'`,
      'PURCHASE_WINDOW_REQUIRED',
    ],
    [
      'the limit before the seats',
      ({ sectors }) => ({ sector_id: sectors[0]?.id, quantity: 2 }),
      `queue_required = false`,
      'TICKET_LIMIT_REACHED',
    ],
    [
      'and then the seats',
      ({ sectors }) => ({ sector_id: sectors[0]?.id, quantity: 1 }),
      `queue_required = false`,
      'ALL_SEATS_HELD',
    ],
  ])('%s', async (_, body, change, code) => {
    const at = await closedTo({}, change);
    expect((await post(body(at), randomUUID(), at.id)).json.code).toBe(code);
  });

  test('a match that never was is not there, whatever is asked of it', async () => {
    const never = randomUUID();
    expect((await post({ sector_id: sector(), quantity: 1 }, randomUUID(), never)).json.code).toBe('NOT_FOUND');
    expect((await post({ seat_ids: seatIds.slice(0, 1) }, randomUUID(), never)).json.code).toBe('NOT_FOUND');
    expect((await post({ sector_id: sector(), quantity: 1 }, randomUUID(), 'not-an-id')).json.code).toBe('VALIDATION_FAILED');
  });
});
