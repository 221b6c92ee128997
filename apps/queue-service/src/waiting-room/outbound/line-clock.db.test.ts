import { queueEvent, type QueueEvent } from '#contracts/integration-events';
import { queueKeys } from '#contracts/queue-keys';
import { SeededRandom } from '#testing/simulation/seeded-random';
import { AdvanceLine } from '../application/advance-line.ts';
import { ClockedLines } from '../testing/clocked-lines.ts';
import { newFanIds, lineFixture, restoreEmpty, type LineFixture } from '../testing/line-fixture.ts';
import type { RedisWaitingLines } from './redis-waiting-lines.ts';

// Whole sales on a clock that the tests move: windows of 20 minutes, absences of 30 minutes, clock jumps (faults F23 and F25 of
// docs/testing.md).

const MINUTE_MS = 60_000;
const SETTINGS = { purchaseWindowMs: 20 * MINUTE_MS, persistenceSeconds: 1800, presenceMs: 2 * MINUTE_MS };

let fixture: LineFixture;
let clock: ClockedLines;
let pods: RedisWaitingLines[];
beforeAll(async () => {
  fixture = await lineFixture();
  clock = new ClockedLines(fixture.redis);
  await clock.advance(0);
  pods = [clock.pod(SETTINGS), clock.pod(SETTINGS)];
});
afterAll(() => fixture.close());

async function open(processingRate: number, maxOpenWindows: number): Promise<string> {
  const matchId = crypto.randomUUID();
  await restoreEmpty(pods[0]!, matchId);
  await pods[0]!.change(matchId, { status: 'active', processing_rate: processingRate, max_open_windows: maxOpenWindows });
  return matchId;
}

/**
 * Moves the clock by `ms`. Every `everyMs` the fans that `presentFans` returns give a sign of life, and each pod runs
 * AdvanceLine.
 */
async function runFor(matchId: string, ms: number, presentFans: () => readonly string[], everyMs = 10_000): Promise<void> {
  for (let elapsed = 0; elapsed < ms; elapsed += everyMs) {
    await clock.advance(Math.min(everyMs, ms - elapsed));
    await pods[0]!.renewPresence(matchId, presentFans());
    await Promise.all(pods.map((pod) => new AdvanceLine(pod).runOnce(matchId)));
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
  for (const [index, user] of users.entries()) await pods[index % 2]!.join(matchId, user);
}

test('fault F23: a fan who is away for less than 30 minutes keeps the queue entry, a fan who is away for 31 minutes or more loses it', async () => {
  const matchId = await open(600, 0);
  const users = newFanIds(60);
  await join(matchId, users);
  // Every third fan is away, for 1, 4, 7 … 58 minutes.
  const backAfter = new Map(users.map((user, index) => [user, index % 3 === 0 ? index + 1 : 0]));
  let minute = 0;
  const here = () => users.filter((user) => backAfter.get(user)! <= minute);
  for (minute = 1; minute <= 60; minute += 1) await runFor(matchId, MINUTE_MS, here, MINUTE_MS);
  expect(await lineOf(matchId)).toEqual(users.filter((user) => backAfter.get(user)! <= 30));
  expect((await eventsOf(matchId)).filter(({ event }) => event === 'queue.turn_granted')).toEqual([]);
});

test('fans without a sign of life since the join are dropped after 30 minutes, and dropAbsent checks each fan once', async () => {
  const matchId = await open(600, 0);
  const [early, late] = [newFanIds(450), newFanIds(30)];
  await Promise.all(early.map((user) => pods[0]!.join(matchId, user)));
  // Every tenth of the `early` fans gives one sign of life after the join. Every third of the `late` fans stays present.
  await pods[0]!.renewPresence(
    matchId,
    early.filter((_, index) => index % 10 === 0),
  );
  await clock.advance(MINUTE_MS);
  await join(matchId, late);
  const here = late.filter((_, index) => index % 3 === 0);
  await runFor(matchId, 28 * MINUTE_MS, () => here, MINUTE_MS);
  expect(await lineOf(matchId)).toEqual([...early, ...late]);
  await clock.advance(MINUTE_MS);
  const checked = [await pods[0]!.dropAbsent(matchId, 200), await pods[1]!.dropAbsent(matchId, 200)];
  expect(checked).toEqual([200, 200]);
  await new AdvanceLine(pods[0]!).runOnce(matchId);
  expect(await lineOf(matchId)).toEqual(late);
  await runFor(matchId, MINUTE_MS, () => here, MINUTE_MS);
  expect(await lineOf(matchId)).toEqual(here);
  expect(await pods[0]!.dropAbsent(matchId, 200)).toBe(0);
});

test('no fan is dropped for the absence during two hours without a running pod; absence counts from the moment a pod runs', async () => {
  const matchId = await open(600, 1);
  const users = newFanIds(4);
  await join(matchId, users);
  await runFor(matchId, 1000, () => [], 1000);
  await clock.advance(120 * MINUTE_MS);
  // The window of the first fan has ended, and the next fan is granted a turn.
  await runFor(matchId, 20_000, () => [], 10_000);
  expect([await grantedIn(matchId), await lineOf(matchId)]).toEqual([users.slice(0, 2), users.slice(2)]);
  await runFor(matchId, 29 * MINUTE_MS, () => [users[3]!], MINUTE_MS);
  expect(await lineOf(matchId)).toEqual([users[2]]);
  await runFor(matchId, MINUTE_MS, () => [], MINUTE_MS);
  expect(await lineOf(matchId)).toEqual([]);
});

test('a window is open for exactly twenty minutes, and at its end the next fan is granted a turn', async () => {
  const matchId = await open(600, 1);
  const [first, second] = newFanIds(2) as [string, string];
  await join(matchId, [first, second]);
  await runFor(matchId, 1000, () => [second], 1000);
  await runFor(matchId, 20 * MINUTE_MS - 1000, () => [second], 30_000);
  expect(await grantedIn(matchId)).toEqual([first]);
  await runFor(matchId, 1000, () => [second], 1000);
  expect(await grantedIn(matchId)).toEqual([first, second]);
});

describe.each([
  ['five minutes ahead', 5 * MINUTE_MS],
  ['five minutes back', -5 * MINUTE_MS],
])('fault F25: the clock of Redis jumps %s during a sale', (_where, jumpMs) => {
  test('the order is kept, no fan is dropped, and turns are granted at the rate', async () => {
    const matchId = await open(60, 1000);
    const users = newFanIds(80);
    await join(matchId, users.slice(0, 40));
    const here = () => users;
    await runFor(matchId, 10_000, here, 1000);
    const before = (await grantedIn(matchId)).length;
    await clock.advance(jumpMs);
    await join(matchId, users.slice(40));
    await runFor(matchId, 10_000, here, 500);
    const granted = await grantedIn(matchId);
    // In these ten seconds one turn a second is granted, and at most one more turn from a full token bucket.
    expect(granted.length - before).toBeGreaterThanOrEqual(9);
    expect(granted.length - before).toBeLessThanOrEqual(11);
    expect([...granted, ...(await lineOf(matchId))]).toEqual(users);
  });

  test('every window ends: no window is lost, and no window stays open for ever', async () => {
    const matchId = await open(600, 5);
    const users = newFanIds(5);
    await join(matchId, users);
    await runFor(matchId, 1000, () => users, 1000);
    await clock.advance(jumpMs);
    await runFor(matchId, 20 * MINUTE_MS - Math.min(0, jumpMs), () => [], 30_000);
    const ends = (await eventsOf(matchId)).flatMap((event) => (event.event === 'queue.expired' ? [event.user_id] : []));
    expect(ends.sort()).toEqual(users.toSorted());
  });
});

test.each([1, 2])(
  'seed %i: a random sale of 90 minutes never exceeds rate and limits, and at the end no fan waits and no window is open',
  async (seed) => {
    const random = new SeededRandom(seed);
    const rate = 120;
    const matchId = await open(rate, 40);
    const here = new Set<string>();
    const grantedAt = new Map<string, number>();
    let knownGrants = 0;
    for (let minute = 0; minute < 90; minute += 1) {
      const arrivals = minute < 30 ? newFanIds(random.between(0, 5)) : [];
      await join(matchId, arrivals);
      for (const user of arrivals) here.add(user);
      const line = await lineOf(matchId);
      for (const user of line) {
        if (random.chance(0.03)) here.delete(user);
        else if (random.chance(0.1)) here.add(user);
      }
      await runFor(matchId, MINUTE_MS, () => [...here], 20_000);
      const granted = await grantedIn(matchId);
      for (const user of granted.slice(knownGrants)) grantedAt.set(user, clock.nowMs);
      // In one minute at most the turns of the rate plus those of one full token bucket are granted.
      expect(granted.length - knownGrants).toBeLessThanOrEqual(rate + rate / 60);
      knownGrants = granted.length;
      const open = await fixture.redis.hkeys(queueKeys.windows(matchId));
      expect(open.length).toBeLessThanOrEqual(40);
      // No window is open for longer than its twenty minutes plus the minute of this step.
      expect(open.filter((user) => clock.nowMs - grantedAt.get(user)! > 21 * MINUTE_MS)).toEqual([]);
      for (const user of open) if (random.chance(0.05)) await pods[0]!.completeWindow(matchId, user);
      const waiting = await lineOf(matchId);
      if (waiting.length > 0 && random.chance(0.2)) await pods[1]!.leave(matchId, random.pick(waiting));
    }
    // At the end no fan waits and no window is open.
    await runFor(matchId, 60 * MINUTE_MS, () => [], 5 * MINUTE_MS);
    expect([await lineOf(matchId), await fixture.redis.hlen(queueKeys.windows(matchId))]).toEqual([[], 0]);
    const queue = (await pods[0]!.readQueue(matchId))!;
    expect(queue.completed + queue.expired).toBe(queue.granted);
  },
);
