import { queueEvent, type QueueEvent } from '#contracts/integration-events';
import { queueKeys } from '#contracts/queue-keys';
import { SeededRandom } from '#testing/simulation/seeded-random';
import { MoveLine } from '../application/move-line.ts';
import { ClockedLines } from '../testing/clocked-lines.ts';
import { fans, lineFixture, restoreEmpty, type LineFixture } from '../testing/line-fixture.ts';
import type { RedisWaitingLines } from './redis-waiting-lines.ts';

// Whole sales on a clock that is turned by hand: 20-minute windows, 30-minute absences, a clock that jumps (F23, F25).

const MINUTE_MS = 60_000;
const SETTINGS = { purchaseWindowMs: 20 * MINUTE_MS, persistenceSeconds: 1800, presenceMs: 2 * MINUTE_MS };

let fixture: LineFixture;
let clock: ClockedLines;
let pods: RedisWaitingLines[];
beforeAll(async () => {
  fixture = await lineFixture();
  clock = new ClockedLines(fixture.redis);
  await clock.turn(0);
  pods = [clock.pod(SETTINGS), clock.pod(SETTINGS)];
});
afterAll(() => fixture.close());

async function open(processingRate: number, maxOpenWindows: number): Promise<string> {
  const matchId = crypto.randomUUID();
  await restoreEmpty(pods[0]!, matchId);
  await pods[0]!.change(matchId, { status: 'active', processingRate, maxOpenWindows });
  return matchId;
}

/** So much time goes by, with a round every so often and a sign of life of those who are here. */
async function live(matchId: string, ms: number, here: () => readonly string[], everyMs = 10_000): Promise<void> {
  for (let gone = 0; gone < ms; gone += everyMs) {
    await clock.turn(Math.min(everyMs, ms - gone));
    await pods[0]!.touch(matchId, here());
    await Promise.all(pods.map((pod) => new MoveLine(pod).runOnce(matchId)));
  }
}

async function eventsOf(matchId: string): Promise<QueueEvent[]> {
  const entries = await fixture.redis.xrange(queueKeys.events(matchId), '-', '+');
  return entries.map(([, fields]) => queueEvent.parse(JSON.parse(fields[1]!)));
}
const grantedIn = async (matchId: string): Promise<string[]> =>
  (await eventsOf(matchId)).flatMap((event) => (event.event === 'queue.turn_granted' ? [event.user_id] : []));
const lineOf = (matchId: string) => fixture.redis.zrange(queueKeys.line(matchId), '0', '-1');

async function join(matchId: string, users: readonly string[]): Promise<void> {
  for (const [at, user] of users.entries()) await pods[at % 2]!.join(matchId, user);
}

test('F23: away for 1 to 29 minutes keeps the place, away for 31 loses it', async () => {
  const matchId = await open(600, 0);
  const users = fans(60);
  await join(matchId, users);
  // Every third loses the connection, for 1, 4, 7 … 58 minutes.
  const backAfter = new Map(users.map((user, at) => [user, at % 3 === 0 ? at + 1 : 0]));
  let minute = 0;
  const here = () => users.filter((user) => backAfter.get(user)! <= minute);
  for (minute = 1; minute <= 60; minute += 1) await live(matchId, MINUTE_MS, here, MINUTE_MS);
  expect(await lineOf(matchId)).toEqual(users.filter((user) => backAfter.get(user)! <= 30));
  expect((await eventsOf(matchId)).filter(({ event }) => event === 'queue.turn_granted')).toEqual([]);
});

test('who joins and is never heard of again goes after half an hour, however many, each looked at once', async () => {
  const matchId = await open(600, 0);
  const [early, late] = [fans(450), fans(30)];
  await Promise.all(early.map((user) => pods[0]!.join(matchId, user)));
  // Every tenth connects at once and is then away; of those who wait behind them each third stays.
  await pods[0]!.touch(
    matchId,
    early.filter((_, at) => at % 10 === 0),
  );
  await clock.turn(MINUTE_MS);
  await join(matchId, late);
  const here = late.filter((_, at) => at % 3 === 0);
  await live(matchId, 28 * MINUTE_MS, () => here, MINUTE_MS);
  expect(await lineOf(matchId)).toEqual([...early, ...late]);
  await clock.turn(MINUTE_MS);
  const looks = [await pods[0]!.dropAbsent(matchId, 200), await pods[1]!.dropAbsent(matchId, 200)];
  expect(looks).toEqual([200, 200]);
  await new MoveLine(pods[0]!).runOnce(matchId);
  expect(await lineOf(matchId)).toEqual(late);
  await live(matchId, MINUTE_MS, () => here, MINUTE_MS);
  expect(await lineOf(matchId)).toEqual(here);
  expect(await pods[0]!.dropAbsent(matchId, 200)).toBe(0);
});

test('two hours without any pod count as nobody’s absence, also for who had only joined; half an hour later they do', async () => {
  const matchId = await open(600, 1);
  const users = fans(4);
  await join(matchId, users);
  await live(matchId, 1000, () => [], 1000);
  await clock.turn(120 * MINUTE_MS);
  // The window of the first is over; the next is granted the turn.
  await live(matchId, 20_000, () => [], 10_000);
  expect([await grantedIn(matchId), await lineOf(matchId)]).toEqual([users.slice(0, 2), users.slice(2)]);
  await live(matchId, 29 * MINUTE_MS, () => [users[3]!], MINUTE_MS);
  expect(await lineOf(matchId)).toEqual([users[2]]);
  await live(matchId, MINUTE_MS, () => [], MINUTE_MS);
  expect(await lineOf(matchId)).toEqual([]);
});

test('a window is open for twenty minutes to the second, and its end lets the next fan in', async () => {
  const matchId = await open(600, 1);
  const [first, second] = fans(2) as [string, string];
  await join(matchId, [first, second]);
  await live(matchId, 1000, () => [second], 1000);
  await live(matchId, 20 * MINUTE_MS - 1000, () => [second], 30_000);
  expect(await grantedIn(matchId)).toEqual([first]);
  await live(matchId, 1000, () => [second], 1000);
  expect(await grantedIn(matchId)).toEqual([first, second]);
});

describe.each([
  ['five minutes ahead', 5 * MINUTE_MS],
  ['five minutes back', -5 * MINUTE_MS],
])('F25: Redis’ clock jumps %s in the middle of the sale', (_where, jumpMs) => {
  test('the order stays, nobody is dropped, and turns go on within a second at the rate', async () => {
    const matchId = await open(60, 1000);
    const users = fans(80);
    await join(matchId, users.slice(0, 40));
    const here = () => users;
    await live(matchId, 10_000, here, 1000);
    const before = (await grantedIn(matchId)).length;
    await clock.turn(jumpMs);
    await join(matchId, users.slice(40));
    await live(matchId, 10_000, here, 500);
    const granted = await grantedIn(matchId);
    // One a second, and at most the one that the bucket may hold on top.
    expect(granted.length - before).toBeGreaterThanOrEqual(9);
    expect(granted.length - before).toBeLessThanOrEqual(11);
    expect([...granted, ...(await lineOf(matchId))]).toEqual(users);
  });

  test('windows end by their own time: none is lost, none stays open for ever', async () => {
    const matchId = await open(600, 5);
    const users = fans(5);
    await join(matchId, users);
    await live(matchId, 1000, () => users, 1000);
    await clock.turn(jumpMs);
    await live(matchId, 20 * MINUTE_MS - Math.min(0, jumpMs), () => [], 30_000);
    const ends = (await eventsOf(matchId)).flatMap((event) => (event.event === 'queue.expired' ? [event.user_id] : []));
    expect(ends.sort()).toEqual(users.toSorted());
  });
});

test.each([1, 2])('seed %i: an evening of fans who come, sleep, wake, buy and leave', async (seed) => {
  const random = new SeededRandom(seed);
  const rate = 120;
  const matchId = await open(rate, 40);
  const here = new Set<string>();
  const grantedAt = new Map<string, number>();
  let known = 0;
  for (let minute = 0; minute < 90; minute += 1) {
    const arrivals = minute < 30 ? fans(random.between(0, 5)) : [];
    await join(matchId, arrivals);
    for (const user of arrivals) here.add(user);
    const line = await lineOf(matchId);
    for (const user of line) {
      if (random.chance(0.03)) here.delete(user);
      else if (random.chance(0.1)) here.add(user);
    }
    await live(matchId, MINUTE_MS, () => [...here], 20_000);
    const granted = await grantedIn(matchId);
    for (const user of granted.slice(known)) grantedAt.set(user, clock.nowMs);
    // No more in a minute than the rate and one bucket.
    expect(granted.length - known).toBeLessThanOrEqual(rate + rate / 60);
    known = granted.length;
    const open = await fixture.redis.hkeys(queueKeys.windows(matchId));
    expect(open.length).toBeLessThanOrEqual(40);
    // Nobody's window is older than its twenty minutes and the step we look in.
    expect(open.filter((user) => clock.nowMs - grantedAt.get(user)! > 21 * MINUTE_MS)).toEqual([]);
    for (const user of open) if (random.chance(0.05)) await pods[0]!.completeWindow(matchId, user);
    const waiting = await lineOf(matchId);
    if (waiting.length > 0 && random.chance(0.2)) await pods[1]!.leave(matchId, random.pick(waiting));
  }
  // Everybody came to an end: nobody waits for ever, no window stays open.
  await live(matchId, 60 * MINUTE_MS, () => [], 5 * MINUTE_MS);
  expect([await lineOf(matchId), await fixture.redis.hlen(queueKeys.windows(matchId))]).toEqual([[], 0]);
  const queue = (await pods[0]!.readQueue(matchId))!;
  expect(queue.completed + queue.expired).toBe(queue.granted);
});
