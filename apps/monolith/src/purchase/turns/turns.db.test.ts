import { queueKeys } from '#contracts/queue-keys';
import { TcpProxy } from '#testing/tcp-proxy';
import { randomUUID } from 'node:crypto';
import { grantTurn, openMonolith, putOnSale, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../testing/box-office.ts';

let opened: OpenBoxOffice;
let office: BoxOffice;
let match: MatchOnSale;
let as: string;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  match = await putOnSale(office.monolith, { queue_required: true });
});
afterAll(() => opened.close());
beforeEach(() => {
  as = randomUUID();
});

const grant = (seconds?: number, matchId = match.id, userId = as) => grantTurn(office.monolith, matchId, userId, seconds);
const end = (turn: string, reason: string) =>
  office.rows(`update purchase_windows set ended_at = now(), end_reason = $2 where session_token = $1`, [turn, reason]);
/** Writes a turn to Redis as the waiting room does, before its event arrives here. */
const grantInRedis = (turn: string, seconds = 1200, userId = as, extra: Record<string, unknown> = {}) =>
  office.monolith.resources.redis.hset(
    queueKeys.windows(match.id),
    userId,
    JSON.stringify({
      expires_at: new Date(Date.now() + seconds * 1000).toISOString(),
      session_token: turn,
      granted_at_ms: Date.now(),
      ...extra,
    }),
  );

describe('hold requests without a valid turn', () => {
  const details = new Set<string>();
  test.each<[string, () => Promise<string | undefined>]>([
    ['no turn', () => Promise.resolve(undefined)],
    ['a turn that was never granted', () => Promise.resolve(`st_${randomUUID()}`)],
    ['a text that is not a session token', () => Promise.resolve('"; drop table seats; --')],
    ["another fan's turn", () => grant(1200, match.id, randomUUID())],
    ["another fan's expired turn", () => grant(-5, match.id, randomUUID())],
    ["another match's turn", async () => grant(1200, (await putOnSale(office.monolith, { queue_required: true })).id)],
    ['a turn that the fan has left', async () => grant().then(async (turn) => (await end(turn, 'left'), turn))],
    ['a turn that was used for an order', async () => grant().then(async (turn) => (await end(turn, 'completed'), turn))],
    [
      "another fan's turn that only Redis knows",
      async () => grantInRedis('st_of-another', 1200, randomUUID()).then(() => 'st_of-another'),
    ],
    ['a turn while Redis has a newer one for this fan', async () => grantInRedis('st_the-newer').then(() => 'st_the-older')],
    [
      'a turn while Redis has an unreadable entry for this fan',
      async () => {
        await office.monolith.resources.redis.hset(queueKeys.windows(match.id), as, '{"session_token":');
        return 'st_whatever';
      },
    ],
  ])('a hold request with %s is refused: PURCHASE_WINDOW_REQUIRED', async (_, turnOf) => {
    const turn = await turnOf();
    const { status, json } = await office.hold(match, { as, ...(turn ? { turn } : {}) });
    expect([status, json.code]).toEqual([403, 'PURCHASE_WINDOW_REQUIRED']);
    details.add(json.detail);
  });

  test('all refusals with PURCHASE_WINDOW_REQUIRED have the same detail text', () => expect(details.size).toBe(1));
});

describe('expired turns', () => {
  test.each<[string, () => Promise<string>]>([
    ['past its expiry time', () => grant(-1)],
    ['ended by the waiting room', async () => grant().then(async (turn) => (await end(turn, 'window_timeout'), turn))],
    ['expired and known only to Redis', async () => grantInRedis('st_over', -1).then(() => 'st_over')],
  ])('a hold request with the fan’s own turn, which is %s, is refused: PURCHASE_WINDOW_EXPIRED', async (_, turnOf) => {
    const { status, json } = await office.hold(match, { as, turn: await turnOf() });
    expect([status, json.code]).toEqual([403, 'PURCHASE_WINDOW_EXPIRED']);
  });
});

describe('open turns', () => {
  test('a turn allows holds of ten minutes, but not beyond the end of the turn', async () => {
    const long = await office.held(match, { as, turn: await grant(1200) });
    expect((new Date(long.expires_at).getTime() - Date.now()) / 1000).toBeGreaterThan(590);
    const turn = await grant(45, match.id, (as = randomUUID()));
    const short = await office.held(match, { as, turn });
    const [window] = await office.rows<{ expires_at: Date }>(`select expires_at from purchase_windows where session_token = $1`, [
      turn,
    ]);
    expect(new Date(short.expires_at).getTime()).toBe(window?.expires_at.getTime());
  });

  test('a turn allows several holds, up to the ticket limit', async () => {
    const turn = await grant();
    for (let hold = 0; hold < 4; hold += 1) await office.held(match, { as, turn });
    expect((await office.hold(match, { as, turn })).json.code).toBe('TICKET_LIMIT_REACHED');
  });

  test('a turn that only Redis knows is stored in PostgreSQL by its first hold request, and then survives a loss of Redis', async () => {
    await grantInRedis('st_only-in-redis');
    await office.held(match, { as, turn: 'st_only-in-redis' });
    await office.monolith.resources.redis.flushdb();
    await office.held(match, { as, turn: 'st_only-in-redis' });
    expect(await office.rows(`select user_id from purchase_windows where session_token = 'st_only-in-redis'`)).toEqual([
      { user_id: as },
    ]);
  });

  test('a hold with a turn that cannot be read because Redis is down is 503, and succeeds when Redis is back', async () => {
    const proxy = await TcpProxy.inFrontOf(opened.settings.REDIS_URL);
    const replica = await openMonolith({ ...opened.settings, REDIS_URL: proxy.url });
    try {
      await grantInRedis('st_of-a-bad-moment');
      const known = await grant(1200, match.id, randomUUID());
      const [{ user_id: other } = { user_id: '' }] = await office.rows<{ user_id: string }>(
        `select user_id from purchase_windows where session_token = $1`,
        [known],
      );
      const hold = (userId: string, turn: string) =>
        replica.call('POST', `/api/v1/matches/${match.id}/reservations`, {
          as: userId,
          headers: { 'x-purchase-session': turn },
          body: { sector_id: match.sectors[0]!.id, quantity: 1 },
        });
      proxy.refuse();
      const [unknown, ofOther] = await Promise.all([hold(as, 'st_of-a-bad-moment'), hold(other, known)]);
      expect([unknown.status, unknown.json.code, ofOther.status]).toEqual([503, 'DEPENDENCY_UNAVAILABLE', 201]);
      proxy.restore();
      await new Promise((resolve) => setTimeout(resolve, 1000));
      expect((await hold(as, 'st_of-a-bad-moment')).status).toBe(201);
    } finally {
      await replica.close();
      await proxy.close();
    }
  });

  test('an open turn allows holds in a paused sale, but not in a closed one', async () => {
    const paused = await putOnSale(office.monolith, { queue_required: true });
    const turn = await grant(1200, paused.id);
    await office.rows(`update matches set sale_status = 'paused' where id = $1`, [paused.id]);
    expect((await office.hold(paused, { as, turn })).status).toBe(201);
    await office.rows(`update matches set sale_status = 'closed' where id = $1`, [paused.id]);
    expect((await office.hold(paused, { as, turn })).json.code).toBe('SALE_NOT_OPEN');
  });

  test('a turn ends with its completed order, which also releases its other holds', async () => {
    const turn = await grant();
    const bought = await office.ordered(await office.held(match, { as, turn }));
    const other = await office.held(match, { as, turn, quantity: 2 });
    expect(await office.settle(office.report(bought))).toBe('completed');
    expect([await office.reservation(other), await office.holderOf(other.seatIds[0] ?? '')]).toEqual([
      'released',
      { status: 'available', reservation_id: null },
    ]);
    expect((await office.hold(match, { as, turn })).json.code).toBe('PURCHASE_WINDOW_REQUIRED');
    const messages = await office.rows<{ body: unknown }>(
      `select body from outbox where destination = 'waiting-room' and event = 'order.completed' and body ->> 'user_id' = $1`,
      [as],
    );
    expect(messages).toEqual([{ body: { kind: 'complete', match_id: match.id, user_id: as, session_token: turn } }]);
  });

  test('a completed order does not change an expired hold of its turn', async () => {
    const turn = await grant();
    const bought = await office.ordered(await office.held(match, { as, turn }));
    const expired = await office.held(match, { as, turn });
    await office.lapse(expired);
    await office.settle(office.report(bought));
    expect(await office.reservation(expired)).toBe('expired');
  });
});

describe.each([
  ['the fan left', 'left'],
  ['the sale was closed', 'closed'],
  ['its window has expired', 'window_timeout'],
])('a turn that ended because %s', (_, reason) => {
  test('an ended turn keeps its holds, which can be checked out and paid until they end, but allows no new ones', async () => {
    const own = await putOnSale(office.monolith, { queue_required: true });
    const turn = await grant(1200, own.id);
    const [paid, awaiting] = [await office.held(own, { as, turn }), await office.held(own, { as, turn })];
    await end(turn, reason);
    if (reason === 'closed') await office.rows(`update matches set sale_status = 'closed' where id = $1`, [own.id]);
    expect((await office.hold(own, { as, turn })).status).toBe(reason === 'closed' ? 409 : 403);
    const ordered = await office.ordered(paid);
    expect((await office.checkOut(awaiting)).json).toMatchObject({ code: 'INVALID_STATE', order_id: ordered.orderId });
    expect(await office.settle(office.report(ordered))).toBe('completed');
    expect([await office.reservation(paid), await office.reservation(awaiting)]).toEqual(['completed', 'released']);
  });
});

describe('a second turn of the same fan', () => {
  test('a second turn allows a second order within the same ticket limit', async () => {
    const first = await grant();
    await office.settle(office.report(await office.ordered(await office.held(match, { as, turn: first, quantity: 3 }))));
    const second = await grant();
    expect((await office.hold(match, { as, turn: second, quantity: 2 })).json).toMatchObject({
      code: 'TICKET_LIMIT_REACHED',
      rest: 1,
    });
    const bought = await office.ordered(await office.held(match, { as, turn: second }));
    expect(await office.settle(office.report(bought))).toBe('completed');
  });

  test('the completed order of a second turn does not release the holds of the first turn', async () => {
    const [first, second] = [await grant(), await grant()];
    const kept = await office.held(match, { as, turn: first });
    await office.settle(office.report(await office.ordered(await office.held(match, { as, turn: second }))));
    expect(await office.reservation(kept)).toBe('held');
  });
});

test("a completed order does not release another fan's holds", async () => {
  const other = randomUUID();
  const theirs = await office.held(match, { as: other, turn: await grant(1200, match.id, other) });
  await office.settle(office.report(await office.ordered(await office.held(match, { as, turn: await grant() }))));
  expect(await office.reservation(theirs)).toBe('held');
});

test('in a match without a queue the session token is ignored and not stored', async () => {
  const direct = await putOnSale(office.monolith);
  expect((await office.hold(direct, { as, turn: 'st_of-somewhere-else' })).status).toBe(201);
  expect(await office.rows(`select session_token from reservations where user_id = $1`, [as])).toEqual([{ session_token: null }]);
});
