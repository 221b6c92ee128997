import { randomUUID } from 'node:crypto';
import { queueKeys } from '#contracts/queue-keys';
import { ChangeQueue } from '../application/change-queue.ts';
import { AdvanceLine } from '../application/advance-line.ts';
import { newFanIds, lineFixture, pause, type LineFixture } from '../testing/line-fixture.ts';

let fixture: LineFixture;
beforeAll(async () => (fixture = await lineFixture()));
afterAll(() => fixture.close());

const closed = { kind: 'over', status: 'closed', reason: 'closed' };
const soldOut = { kind: 'over', status: 'closed', reason: 'sold_out' };

/** Joins three fans: the first gets an open window, the other two wait. */
async function threeFans(matchId: string): Promise<[holder: string, first: string, second: string]> {
  const users = newFanIds(3) as [string, string, string];
  for (const user of users) await fixture.lines.join(matchId, user);
  await fixture.lines.admit(matchId, 1);
  return users;
}

const stateOf = async (matchId: string, user: string) => (await fixture.lines.pollEntry(matchId, user))?.state;

describe('a scheduled queue', () => {
  test('refuses joins before opens_at, and opens by itself at opens_at with a full token bucket', async () => {
    const matchId = await fixture.restoredMatch();
    const opensAt = new Date(Date.now() + 400).toISOString();
    await fixture.lines.change(matchId, { status: 'scheduled', opens_at: opensAt });
    const [me] = newFanIds(1) as [string];
    expect(await fixture.lines.join(matchId, me)).toEqual({ kind: 'scheduled', opensAt });
    await pause(450);
    expect((await fixture.lines.join(matchId, me)).kind).toBe('created');
    expect((await fixture.lines.readQueue(matchId))!.status).toBe('active');
    expect((await fixture.lines.admit(matchId, 5)).granted).toBe(1);
  });

  test('opens at opens_at by a regular run of AdvanceLine, without a request', async () => {
    const matchId = await fixture.restoredMatch();
    await fixture.lines.change(matchId, { status: 'scheduled', opens_at: new Date(Date.now() + 100).toISOString() });
    await pause(150);
    await new AdvanceLine(fixture.lines).runOnce(matchId);
    expect(await fixture.redis.hget(queueKeys.meta(matchId), 'status')).toBe('active');
  });

  test('does not exist for a match that the monolith has reported as a match without a waiting room', async () => {
    const matchId = await fixture.matchWithoutQueue();
    expect(await fixture.lines.join(matchId, randomUUID())).toEqual({ kind: 'unknown' });
    expect(await fixture.lines.readQueue(matchId)).toBeUndefined();
  });
});

describe('changes of the settings', () => {
  test('omitted fields keep their value, null clears a value, and a repeated change has no effect', async () => {
    const matchId = await fixture.match({ processing_rate: 120, max_open_windows: 7, useful_windows: 5, reason: 'rain' });
    await fixture.lines.change(matchId, { status: 'paused' });
    expect(await fixture.lines.readQueue(matchId)).toMatchObject({
      status: 'paused',
      processingRate: 120,
      maxOpenWindows: 7,
      usefulWindows: 5,
      reason: 'rain',
    });
    await fixture.lines.change(matchId, { useful_windows: null, reason: null });
    const queue = await fixture.lines.readQueue(matchId);
    expect(queue).toMatchObject({ usefulWindows: null, reason: null, processingRate: 120 });
    await fixture.lines.change(matchId, { status: 'paused', processing_rate: 120 });
    expect(await fixture.lines.readQueue(matchId)).toEqual(queue);
  });

  test('in a paused queue fans can join, but get no turn', async () => {
    const matchId = await fixture.match({ status: 'paused' });
    expect((await fixture.lines.join(matchId, randomUUID())).kind).toBe('created');
    expect((await fixture.lines.admit(matchId, 5)).granted).toBe(0);
  });
});

describe('closing a queue', () => {
  test('ends all entries and windows at once, before drainClosed has written the final states', async () => {
    const matchId = await fixture.match({ max_open_windows: 1 });
    const users = await threeFans(matchId);
    expect(await fixture.lines.change(matchId, { status: 'closed' })).toEqual({ outcome: 'done', isKnown: true });
    for (const user of users) expect(await stateOf(matchId, user)).toEqual(closed);
    expect(await fixture.lines.readQueue(matchId)).toMatchObject({
      status: 'closed',
      closedReason: 'closed',
      total: 0,
      openWindows: 0,
    });
    expect(await fixture.redis.hlen(queueKeys.windows(matchId))).toBe(0);
    expect(await fixture.lines.join(matchId, users[0])).toEqual({ kind: 'closed', reason: 'closed' });
  });

  test('drainClosed writes the final state of each fan once and leaves no keys behind', async () => {
    const matchId = await fixture.match({ max_open_windows: 1 });
    const users = await threeFans(matchId);
    const token = (await fixture.lines.pollEntry(matchId, users[2]))!.queueToken!;
    await fixture.lines.change(matchId, { status: 'closed' });
    expect(await fixture.lines.drainClosed(matchId, 2)).toBe(2);
    expect(await fixture.lines.drainClosed(matchId, 2)).toBe(1);
    expect(await fixture.lines.drainClosed(matchId, 2)).toBe(0);
    for (const user of users) expect(await stateOf(matchId, user)).toEqual(closed);
    expect((await fixture.lines.readToken(token))?.entry.state).toEqual(closed);
    expect(
      await fixture.redis.exists(
        queueKeys.closingLine(matchId),
        queueKeys.closingWindows(matchId),
        queueKeys.closingWindowEnds(matchId),
      ),
    ).toBe(0);
    expect(await fixture.redis.exists(queueKeys.session(users[2], matchId))).toBe(0);
    expect(await fixture.lines.readQueue(matchId)).toMatchObject({ granted: 1, expired: 1, completed: 0 });
  });

  test('as sold out ends all entries of the line, but an open window stays until it is completed', async () => {
    const matchId = await fixture.match({ max_open_windows: 1 });
    const [holder, waiting] = await threeFans(matchId);
    await fixture.lines.reportRemaining(matchId, []);
    await fixture.lines.reportRemaining(matchId, []);
    expect(await stateOf(matchId, waiting)).toEqual(soldOut);
    expect((await stateOf(matchId, holder))?.kind).toBe('granted');
    expect(await fixture.lines.join(matchId, waiting)).toEqual({ kind: 'closed', reason: 'sold_out' });
    expect((await fixture.lines.join(matchId, holder)).kind).toBe('kept');
    await fixture.lines.completeWindow(matchId, holder);
    expect(await stateOf(matchId, holder)).toEqual({ kind: 'over', status: 'completed' });
  });

  test('that is already closed as sold out ends the open windows', async () => {
    const matchId = await fixture.match({ max_open_windows: 1 });
    const [holder] = await threeFans(matchId);
    await fixture.lines.reportRemaining(matchId, []);
    await fixture.lines.change(matchId, { status: 'closed' });
    expect(await stateOf(matchId, holder)).toEqual(closed);
    await fixture.lines.reportRemaining(matchId, []);
    expect((await fixture.lines.readQueue(matchId))!.closedReason).toBe('closed');
  });

  test('and opening it again makes an empty line; a fan who joins before drainClosed has written the final states keeps the new entry', async () => {
    const matchId = await fixture.match({ max_open_windows: 1 });
    const [holder, waiting] = await threeFans(matchId);
    const oldToken = (await fixture.lines.pollEntry(matchId, waiting))!.queueToken!;
    await fixture.lines.change(matchId, { status: 'closed' });
    await fixture.lines.change(matchId, { status: 'active' });
    expect((await fixture.lines.readQueue(matchId))!.total).toBe(0);
    const again = await fixture.lines.join(matchId, waiting);
    expect(again.kind === 'created' && again.entry.state).toEqual({ kind: 'waiting', position: 1 });
    await new AdvanceLine(fixture.lines).runOnce(matchId);
    expect((await stateOf(matchId, waiting))?.kind).toBe('granted');
    expect(await stateOf(matchId, holder)).toEqual(closed);
    expect((await fixture.lines.readToken(oldToken))?.entry.state).toEqual(closed);
  });

  test('twice before drainClosed has written the final states: fans of the first line get theirs before the second line is closed', async () => {
    const matchId = await fixture.match({ max_open_windows: 1 });
    const changes = new ChangeQueue(fixture.lines);
    await threeFans(matchId);
    await changes.control(matchId, { status: 'closed' });
    await changes.control(matchId, { status: 'active' });
    const [holder, waiting] = await threeFans(matchId);
    expect(await fixture.lines.change(matchId, { status: 'closed' })).toMatchObject({ outcome: 'draining' });
    expect((await fixture.lines.readQueue(matchId))!.status).toBe('active');
    await changes.control(matchId, { status: 'closed' });
    expect(await stateOf(matchId, holder)).toEqual(closed);
    expect(await stateOf(matchId, waiting)).toEqual(closed);
  });

  test('and opening it again clears the remaining sectors; only a changed set of sectors raises the revision of the queue', async () => {
    const matchId = await fixture.match();
    const sectors = [{ sector_id: randomUUID(), name: 'Sjever "A"', available: 3 }];
    await fixture.lines.reportRemaining(matchId, sectors);
    expect((await fixture.lines.readQueue(matchId))!.remainingSectors).toEqual(sectors);
    const { revision } = (await fixture.lines.readQueue(matchId))!;
    // A new revision makes pods send all fans a message at once. Changed numbers of seats do not raise it: they change every second.
    await fixture.lines.reportRemaining(
      matchId,
      sectors.map((sector) => ({ ...sector, available: 1 })),
    );
    expect(await fixture.lines.readQueue(matchId)).toMatchObject({ revision, remainingSectors: [{ available: 1 }] });
    await fixture.lines.reportRemaining(matchId, [...sectors, { sector_id: randomUUID(), name: 'Zapad', available: 1 }]);
    expect((await fixture.lines.readQueue(matchId))!.revision).toBe(revision + 1);
    await fixture.lines.change(matchId, { status: 'closed' });
    await fixture.lines.change(matchId, { status: 'active' });
    expect((await fixture.lines.readQueue(matchId))!.remainingSectors).toEqual([]);
  });
});
