import { randomUUID } from 'node:crypto';
import { TcpProxy } from '#testing/tcp-proxy';
import { createTestRedis, type TestRedis } from '#testing/test-database';
import { verifyDatabase } from '../../cli/verify/verify-database.ts';
import { newKey, type TestAnswer } from '../../testing/test-app.ts';
import { openMonolith, putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { BoxOffice, openBoxOffice, type OpenBoxOffice } from '../testing/box-office.ts';
import { ExpireReservations } from './application/expire-reservations.ts';

let opened: OpenBoxOffice;
let redis: TestRedis;
let link: TcpProxy;
let office: BoxOffice;
/** A second replica, whose Redis can be made unreachable. */
let other: BoxOffice;
let match: MatchOnSale;

beforeAll(async () => {
  [opened, redis] = await Promise.all([openBoxOffice(), createTestRedis()]);
  office = opened.office;
  link = await TcpProxy.inFrontOf(redis.url);
  other = new BoxOffice(await openMonolith({ ...opened.settings, REDIS_URL: link.url, RATE_LIMIT_USER_PER_MINUTE: '10' }));
});
afterAll(async () => {
  await other.monolith.close();
  await opened.close();
  await link.close();
  await redis.close();
});
beforeEach(async () => {
  match = await putOnSale(office.monolith, { sectors: [seated('East A', 4, 10)] });
});
afterEach(async () => {
  await office.monolith.get(ExpireReservations).execute();
  const { invariants } = await verifyDatabase(office.monolith.dataSource, { matchId: match.id });
  expect(invariants.filter(({ broken }) => broken > 0)).toEqual([]);
});

/** Lets so many minutes pass for all holds of the match. */
async function pass(minutes: number): Promise<void> {
  const ago = 'make_interval(mins => $2)';
  await office.rows(
    `update reservations set created_at = created_at - ${ago}, expires_at = expires_at - ${ago}, ended_at = ended_at - ${ago} where match_id = $1`,
    [match.id, minutes],
  );
  await office.rows(`update seats set expires_at = expires_at - ${ago} where match_id = $1`, [match.id, minutes]);
  await office.rows(`update fan_seats set unpaid_from = unpaid_from - ${ago} where match_id = $1`, [match.id, minutes]);
}

/** Holds a seat so many times, each time as soon as the last hold has expired. */
async function holdAgainAndAgain(as: string, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await office.held(match, { as });
    await pass(10);
  }
}

const codes = (answers: readonly TestAnswer[]) => answers.map(({ status, json }) => (status === 201 ? 'held' : json.code));

test('the fourth hold in a row is 429 HOLD_COOLDOWN with Retry-After and the end, and is possible from then on', async () => {
  const as = randomUUID();
  await holdAgainAndAgain(as, 3);
  await pass(4);
  const refused = await office.hold(match, { as });
  expect([refused.status, refused.json.code]).toEqual([429, 'HOLD_COOLDOWN']);
  const seconds = Number(refused.headers['retry-after']);
  expect(seconds).toBeGreaterThan(350);
  expect(seconds).toBeLessThanOrEqual(360);
  expect(Math.abs(Date.parse(refused.json.until) - Date.now() - seconds * 1000)).toBeLessThan(2000);
  await pass(6);
  expect((await office.hold(match, { as })).status).toBe(201);
});

test('the answer is not stored: the same idempotency key holds seats after the cooldown', async () => {
  const [as, key] = [randomUUID(), newKey()];
  await holdAgainAndAgain(as, 3);
  expect((await office.hold(match, { as, key })).status).toBe(429);
  await pass(10);
  expect((await office.hold(match, { as, key })).status).toBe(201);
});

test('refused holds do not count for the limit of ten requests a minute', async () => {
  const as = randomUUID();
  await holdAgainAndAgain(as, 3);
  for (let sent = 0; sent < 12; sent += 1) expect((await other.hold(match, { as })).json.code).toBe('HOLD_COOLDOWN');
});

test('it does not matter which replica is asked, whether expired holds were swept, and whether Redis answers', async () => {
  const as = randomUUID();
  await holdAgainAndAgain(as, 3);
  link.refuse();
  const without = await other.hold(match, { as });
  link.restore();
  await office.monolith.get(ExpireReservations).execute();
  expect(codes([without, await office.hold(match, { as })])).toEqual(['HOLD_COOLDOWN', 'HOLD_COOLDOWN']);
});

test('eight requests of one fan to two replicas at the same time: none gets around the cooldown', async () => {
  const as = randomUUID();
  await holdAgainAndAgain(as, 3);
  const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? office : other).hold(match, { as })));
  expect(codes(answers)).not.toContain('held');
  expect(codes(answers)).toContain('HOLD_COOLDOWN');
});

test('a fan who holds and gives back at once is refused after ten holds', async () => {
  const as = randomUUID();
  for (let time = 0; time < 10; time += 1) await (time % 2 === 0 ? office : other).release(await office.held(match, { as }));
  expect(codes([await office.hold(match, { as }), await other.hold(match, { as })])).toEqual(['HOLD_COOLDOWN', 'HOLD_COOLDOWN']);
});

test('honest: three seats that were held one after the other and expire together count once', async () => {
  const as = randomUUID();
  for (let time = 1; time <= 2; time += 1) {
    for (let seat = 0; seat < 3; seat += 1) await office.held(match, { as });
    await pass(10);
  }
  expect((await office.hold(match, { as })).status).toBe(201);
});

test('honest: after a paid order three more holds may expire', async () => {
  const as = randomUUID();
  await holdAgainAndAgain(as, 2);
  const ordered = await office.ordered(await office.held(match, { as }));
  expect(await office.settle(office.report(ordered))).toBe('completed');
  await pass(1);
  await holdAgainAndAgain(as, 3);
  expect((await office.hold(match, { as })).json.code).toBe('HOLD_COOLDOWN');
});

test('other fans and other matches are not affected', async () => {
  const as = randomUUID();
  await holdAgainAndAgain(as, 3);
  const second = await putOnSale(office.monolith);
  expect(codes([await office.hold(match), await office.hold(second, { as })])).toEqual(['held', 'held']);
});

test('HOLD_COOLDOWN_AFTER=0 switches it off', async () => {
  const off = new BoxOffice(await openMonolith({ ...opened.settings, HOLD_COOLDOWN_AFTER: '0' }));
  const as = randomUUID();
  await holdAgainAndAgain(as, 3);
  expect((await off.hold(match, { as })).status).toBe(201);
  await off.monolith.close();
});
