import { randomUUID } from 'node:crypto';
import { queueKeys } from '#contracts/queue-keys';
import { JoinLine } from '../application/join-line.ts';
import { fans, lineFixture, restoreEmpty, type LineFixture } from '../testing/line-fixture.ts';
import { SignedReceipts } from './signed-receipts.ts';

let fixture: LineFixture;
beforeAll(async () => (fixture = await lineFixture()));
afterAll(() => fixture.close());

const receipts = new SignedReceipts('s'.repeat(32));
const noBlacklist = { has: () => false, look: () => Promise.resolve([]) };

async function join(matchId: string, userId: string, receipt?: string) {
  const { entry, created } = await new JoinLine(fixture.lines, receipts, noBlacklist).execute({ matchId, userId }, receipt);
  const position = entry.state.kind === 'waiting' ? entry.state.position : 0;
  return { created, position, receipt: entry.score === null ? '' : receipts.sign(matchId, userId, entry.score) };
}

/** Redis has lost this match; the monolith has sent its state again: nobody has had a turn. */
async function loseMatch(matchId: string): Promise<void> {
  const keys = await fixture.redis.keys(`*{${matchId}}`);
  await fixture.redis.del(...keys);
  await restoreEmpty(fixture.lines, matchId, 2);
  await fixture.lines.change(matchId, { status: 'active', maxOpenWindows: 0 });
}

const lineOf = (matchId: string) => fixture.redis.zrange(queueKeys.line(matchId), '0', '-1');

describe('after a loss of Redis', () => {
  test('receipts restore the exact order, whoever comes back first, in front of newcomers', async () => {
    const matchId = await fixture.match({ maxOpenWindows: 0 });
    const users = fans(50);
    const held = new Map<string, string>();
    for (const user of users) held.set(user, (await join(matchId, user)).receipt);
    await loseMatch(matchId);
    const newcomer = randomUUID();
    await join(matchId, newcomer);
    const shuffled = users.toSorted(() => Math.random() - 0.5);
    const answers = await Promise.all(shuffled.map((user) => join(matchId, user, held.get(user))));
    expect(answers.every(({ created }) => created)).toBe(true);
    expect(await lineOf(matchId)).toEqual([...users, newcomer]);
    expect(await fixture.redis.hget(queueKeys.meta(matchId), 'restored')).toBe('50');
    expect(await join(matchId, users[7]!, held.get(users[7]!))).toMatchObject({ created: false, position: 8 });
  });

  test('control: without receipts the order is that of coming back', async () => {
    const matchId = await fixture.match({ maxOpenWindows: 0 });
    const users = fans(20);
    for (const user of users) await join(matchId, user);
    await loseMatch(matchId);
    for (const user of users.toReversed()) await join(matchId, user);
    expect(await lineOf(matchId)).toEqual(users.toReversed());
  });

  test('who joined again without one is moved up when a device still has it', async () => {
    const matchId = await fixture.match({ maxOpenWindows: 0 });
    const [me, other] = fans(2) as [string, string];
    const { receipt } = await join(matchId, me);
    await join(matchId, other);
    await loseMatch(matchId);
    await join(matchId, other);
    expect((await join(matchId, me)).position).toBe(2);
    expect((await join(matchId, me, receipt)).position).toBe(1);
    expect(await lineOf(matchId)).toEqual([me, other]);
  });

  test('a place that admission has gone past already is granted next', async () => {
    const matchId = await fixture.match({ maxOpenWindows: 0 });
    const [me, ...others] = fans(4) as [string, string, string, string];
    const { receipt } = await join(matchId, me);
    await loseMatch(matchId);
    for (const other of others) await join(matchId, other);
    await fixture.lines.change(matchId, { maxOpenWindows: 1 });
    await fixture.lines.admit(matchId, 1);
    await join(matchId, me, receipt);
    await fixture.lines.change(matchId, { maxOpenWindows: 2 });
    await fixture.lines.admit(matchId, 1);
    expect((await fixture.redis.hkeys(queueKeys.windows(matchId))).sort()).toEqual([others[0], me].sort());
  });
});

test('who was passed at a later place and then shows the receipt of an earlier one comes before those behind it', async () => {
  const matchId = await fixture.match({ maxOpenWindows: 0 });
  const [early, late, newcomer] = fans(3) as [string, string, string];
  const [first, second] = [(await join(matchId, early)).receipt, (await join(matchId, late)).receipt];
  await loseMatch(matchId);
  await join(matchId, newcomer);
  await join(matchId, early);
  await fixture.redis.zadd(queueKeys.seen(matchId), Date.now() - 61_000, early);
  // The newcomer is granted, the early one passed while away.
  await fixture.lines.change(matchId, { maxOpenWindows: 2 });
  await fixture.lines.admit(matchId, 2);
  await join(matchId, late, second);
  await join(matchId, early, first);
  await fixture.lines.admit(matchId, 1);
  expect((await fixture.redis.hkeys(queueKeys.windows(matchId))).sort()).toEqual([newcomer, early].sort());
});

describe('a receipt is worth nothing', () => {
  test('for a place that was left, had its turn, or was dropped: the fan goes to the end', async () => {
    const matchId = await fixture.match({ maxOpenWindows: 0 });
    const [leaver, buyer, dropped, last] = fans(4) as [string, string, string, string];
    const held = new Map<string, string>();
    for (const user of [leaver, buyer, dropped, last]) held.set(user, (await join(matchId, user)).receipt);
    await fixture.lines.leave(matchId, leaver);
    await fixture.lines.change(matchId, { maxOpenWindows: 1 });
    await fixture.lines.admit(matchId, 1);
    await fixture.lines.completeWindow(matchId, buyer);
    await fixture.lines.change(matchId, { maxOpenWindows: 0 });
    await fixture.redis.zadd(queueKeys.seen(matchId), Date.now() - 61_000, dropped);
    await fixture.lines.dropAbsent(matchId, 10);
    for (const user of [leaver, buyer, dropped]) await join(matchId, user, held.get(user));
    expect(await lineOf(matchId)).toEqual([last, leaver, buyer, dropped]);
  });

  test('for the line before a close', async () => {
    const matchId = await fixture.match({ maxOpenWindows: 0 });
    const [me, other] = fans(2) as [string, string];
    const { receipt } = await join(matchId, me);
    await fixture.lines.change(matchId, { status: 'closed' });
    await fixture.lines.drainClosed(matchId, 10);
    await fixture.lines.change(matchId, { status: 'active' });
    await join(matchId, other);
    expect((await join(matchId, me, receipt)).position).toBe(2);
  });

  test('after a day', async () => {
    const matchId = await fixture.match({ maxOpenWindows: 0 });
    const [me, other] = fans(2) as [string, string];
    await join(matchId, other);
    const old = receipts.sign(matchId, me, String((Date.now() - 25 * 3_600_000) * 1000));
    expect((await join(matchId, me, old)).position).toBe(2);
  });

  test('when it is not ours: refused, and nothing has changed', async () => {
    const matchId = await fixture.match({ maxOpenWindows: 0 });
    const [me, other] = fans(2) as [string, string];
    const { receipt } = await join(matchId, other);
    await expect(join(matchId, me, receipt)).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
    await expect(join(matchId, me, 'r1.1.x')).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
    expect(await lineOf(matchId)).toEqual([other]);
  });
});
