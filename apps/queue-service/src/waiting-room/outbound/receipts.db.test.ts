import { randomUUID } from 'node:crypto';
import { queueKeys } from '#contracts/queue-keys';
import { JoinLine } from '../application/join-line.ts';
import { newFanIds, lineFixture, restoreEmpty, type LineFixture } from '../testing/line-fixture.ts';
import { SignedReceipts } from './signed-receipts.ts';

let fixture: LineFixture;
beforeAll(async () => (fixture = await lineFixture()));
afterAll(() => fixture.close());

const receipts = new SignedReceipts(['s'.repeat(32)]);
const emptyBlacklist = { has: () => false, refresh: () => Promise.resolve([]) };

async function join(matchId: string, userId: string, receipt?: string) {
  const { entry, created } = await new JoinLine(fixture.lines, receipts, emptyBlacklist).execute({ matchId, userId }, receipt);
  const position = entry.state.kind === 'waiting' ? entry.state.position : 0;
  return { created, position, receipt: entry.score === null ? '' : receipts.sign(matchId, userId, entry.score) };
}

/** Deletes all keys of the match, then stores its state like the monolith after a loss of Redis: no open windows, no used turns. */
async function loseMatch(matchId: string): Promise<void> {
  const keys = await fixture.redis.keys(`*{${matchId}}`);
  await fixture.redis.del(...keys);
  await restoreEmpty(fixture.lines, matchId, 2);
  await fixture.lines.change(matchId, { status: 'active', max_open_windows: 0 });
}

const lineOf = (matchId: string) => fixture.redis.zrange(queueKeys.line(matchId), '0', '-1');

describe('after a loss of Redis', () => {
  test('receipts restore the exact order in front of new fans, whatever the order of joining again', async () => {
    const matchId = await fixture.match({ max_open_windows: 0 });
    const users = newFanIds(50);
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

  test('negative control: without receipts the fans stand in the order of joining again', async () => {
    const matchId = await fixture.match({ max_open_windows: 0 });
    const users = newFanIds(20);
    for (const user of users) await join(matchId, user);
    await loseMatch(matchId);
    for (const user of users.toReversed()) await join(matchId, user);
    expect(await lineOf(matchId)).toEqual(users.toReversed());
  });

  test('a fan who joined again without the receipt moves up when another device of the fan joins with the receipt', async () => {
    const matchId = await fixture.match({ max_open_windows: 0 });
    const [me, other] = newFanIds(2) as [string, string];
    const { receipt } = await join(matchId, me);
    await join(matchId, other);
    await loseMatch(matchId);
    await join(matchId, other);
    expect((await join(matchId, me)).position).toBe(2);
    expect((await join(matchId, me, receipt)).position).toBe(1);
    expect(await lineOf(matchId)).toEqual([me, other]);
  });

  test('a fan restored to a position in front of a fan who already has a turn gets the next turn', async () => {
    const matchId = await fixture.match({ max_open_windows: 0 });
    const [me, ...others] = newFanIds(4) as [string, string, string, string];
    const { receipt } = await join(matchId, me);
    await loseMatch(matchId);
    for (const other of others) await join(matchId, other);
    await fixture.lines.change(matchId, { max_open_windows: 1 });
    await fixture.lines.admit(matchId, 1);
    await join(matchId, me, receipt);
    await fixture.lines.change(matchId, { max_open_windows: 2 });
    await fixture.lines.admit(matchId, 1);
    expect((await fixture.redis.hkeys(queueKeys.windows(matchId))).sort()).toEqual([others[0], me].sort());
  });
});

test('a fan who was skipped at a later position and then joins with an earlier receipt gets the turn of the earlier position', async () => {
  const matchId = await fixture.match({ max_open_windows: 0 });
  const [early, late, newcomer] = newFanIds(3) as [string, string, string];
  const [first, second] = [(await join(matchId, early)).receipt, (await join(matchId, late)).receipt];
  await loseMatch(matchId);
  await join(matchId, newcomer);
  await join(matchId, early);
  await fixture.redis.zadd(queueKeys.seen(matchId), Date.now() - 61_000, early);
  // The fan `newcomer` gets a turn. The fan `early` is away and is skipped.
  await fixture.lines.change(matchId, { max_open_windows: 2 });
  await fixture.lines.admit(matchId, 2);
  await join(matchId, late, second);
  await join(matchId, early, first);
  await fixture.lines.admit(matchId, 1);
  expect((await fixture.redis.hkeys(queueKeys.windows(matchId))).sort()).toEqual([newcomer, early].sort());
});

describe('a receipt (signed join time) does not restore', () => {
  test('an entry that the fan gave up, that had its turn or that was dropped: the fan goes to the end of the line', async () => {
    const matchId = await fixture.match({ max_open_windows: 0 });
    const [leaver, buyer, dropped, last] = newFanIds(4) as [string, string, string, string];
    const held = new Map<string, string>();
    for (const user of [leaver, buyer, dropped, last]) held.set(user, (await join(matchId, user)).receipt);
    await fixture.lines.leave(matchId, leaver);
    await fixture.lines.change(matchId, { max_open_windows: 1 });
    await fixture.lines.admit(matchId, 1);
    await fixture.lines.completeWindow(matchId, buyer);
    await fixture.lines.change(matchId, { max_open_windows: 0 });
    await fixture.redis.zadd(queueKeys.seen(matchId), Date.now() - 61_000, dropped);
    await fixture.lines.dropAbsent(matchId, 10);
    for (const user of [leaver, buyer, dropped]) await join(matchId, user, held.get(user));
    expect(await lineOf(matchId)).toEqual([last, leaver, buyer, dropped]);
  });

  test('an entry of a line that was closed', async () => {
    const matchId = await fixture.match({ max_open_windows: 0 });
    const [me, other] = newFanIds(2) as [string, string];
    const { receipt } = await join(matchId, me);
    await fixture.lines.change(matchId, { status: 'closed' });
    await fixture.lines.drainClosed(matchId, 10);
    await fixture.lines.change(matchId, { status: 'active' });
    await join(matchId, other);
    expect((await join(matchId, me, receipt)).position).toBe(2);
  });

  test('an entry older than a day', async () => {
    const matchId = await fixture.match({ max_open_windows: 0 });
    const [me, other] = newFanIds(2) as [string, string];
    await join(matchId, other);
    const old = receipts.sign(matchId, me, String((Date.now() - 25 * 3_600_000) * 1000));
    expect((await join(matchId, me, old)).position).toBe(2);
  });

  test('an entry if the receipt was issued to another fan or was changed: the join is refused and the line is unchanged', async () => {
    const matchId = await fixture.match({ max_open_windows: 0 });
    const [me, other] = newFanIds(2) as [string, string];
    const { receipt } = await join(matchId, other);
    await expect(join(matchId, me, receipt)).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
    await expect(join(matchId, me, 'r1.1.x')).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
    expect(await lineOf(matchId)).toEqual([other]);
  });
});
