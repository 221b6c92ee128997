import { queueKeys } from '#contracts/queue-keys';
import { AdvanceLine } from '../application/advance-line.ts';
import { newFanIds, lineFixture, pause, type LineFixture } from '../testing/line-fixture.ts';

let fixture: LineFixture;
beforeAll(async () => (fixture = await lineFixture()));
afterAll(() => fixture.close());

const HOUR_MS = 3_600_000;
const FAST = { processing_rate: 60_000, max_open_windows: 100 };

async function joinFans(matchId: string, count: number): Promise<string[]> {
  const users = newFanIds(count);
  for (const user of users) await fixture.lines.join(matchId, user);
  return users;
}

/** Sets the last sign of life of these fans to `ms` ago. */
async function makeAway(matchId: string, ms: number, users: readonly string[]): Promise<void> {
  for (const user of users) await fixture.redis.zadd(queueKeys.seen(matchId), Date.now() - ms, user);
}

/** The fans who were granted turns, in order. */
async function grantedFans(matchId: string): Promise<string[]> {
  return (await eventsOf(matchId, 'queue.turn_granted')).map(({ user_id }) => user_id);
}

async function eventsOf(matchId: string, name: string): Promise<{ user_id: string }[]> {
  const entries = await fixture.redis.xrange(queueKeys.events(matchId), '-', '+');
  const events = entries.map(([, fields]) => JSON.parse(fields[1]!) as { event: string; user_id: string });
  return events.filter(({ event }) => event === name);
}

const positionOf = async (matchId: string, user: string) => {
  const { positions } = await fixture.lines.readPositions(matchId, [user]);
  return positions[0];
};

describe('a fan who is away when the turn is due', () => {
  test('keeps position 1, gets one queue.front_reached event, is skipped, and gets the next turn after returning', async () => {
    const matchId = await fixture.match({ ...FAST, max_open_windows: 2 });
    const [away, second, third, fourth] = (await joinFans(matchId, 4)) as [string, string, string, string];
    await makeAway(matchId, 61_000, [away]);
    await fixture.lines.admit(matchId, 10);
    await fixture.lines.admit(matchId, 10);
    expect(await grantedFans(matchId)).toEqual([second, third]);
    expect(await eventsOf(matchId, 'queue.front_reached')).toEqual([
      { event: 'queue.front_reached', user_id: away, match_id: matchId },
    ]);
    expect([await positionOf(matchId, away), await positionOf(matchId, fourth)]).toEqual([1, 2]);

    expect((await fixture.lines.pollEntry(matchId, away))?.state).toEqual({ kind: 'waiting', position: 1 });
    await fixture.lines.completeWindow(matchId, second);
    await fixture.lines.admit(matchId, 10);
    expect(await grantedFans(matchId)).toEqual([second, third, away]);
    expect(await eventsOf(matchId, 'queue.front_reached')).toHaveLength(1);
  });

  test('negative control: without the check of presence an absent fan gets a window and blocks it', async () => {
    const matchId = await fixture.match({ ...FAST, max_open_windows: 1 });
    const [away, here] = (await joinFans(matchId, 2)) as [string, string];
    await makeAway(matchId, 61_000, [away]);
    await fixture.pod({ presenceMs: HOUR_MS }).admit(matchId, 10);
    expect(await grantedFans(matchId)).toEqual([away]);
    expect(await positionOf(matchId, here)).toBe(1);
  });

  test('returns together with other skipped fans: they get turns in line order, before fans who were behind them', async () => {
    const matchId = await fixture.match({ ...FAST, max_open_windows: 1 });
    const users = await joinFans(matchId, 6);
    await makeAway(matchId, 61_000, users.slice(0, 3));
    await fixture.lines.admit(matchId, 10);
    expect(await grantedFans(matchId)).toEqual([users[3]]);
    for (const user of [users[2]!, users[0]!, users[1]!]) await fixture.lines.renewPresence(matchId, [user]);
    await fixture.lines.change(matchId, { max_open_windows: 5 });
    await fixture.lines.admit(matchId, 10);
    expect(await grantedFans(matchId)).toEqual([users[3], users[0], users[1], users[2], users[4]]);
  });

  test('returns and leaves again before a window is free: is skipped again, and gets another queue.front_reached event only after the presence period', async () => {
    const pod = fixture.pod({ presenceMs: 300 });
    const matchId = await fixture.match({ ...FAST, max_open_windows: 1 });
    const [unsteady, holder, waiter] = (await joinFans(matchId, 3)) as [string, string, string];
    await makeAway(matchId, 400, [unsteady]);
    await pod.renewPresence(matchId, [holder, waiter]);
    await pod.admit(matchId, 10);
    await pod.renewPresence(matchId, [unsteady]);
    await makeAway(matchId, 400, [unsteady]);
    await pod.completeWindow(matchId, holder);
    await pod.renewPresence(matchId, [waiter]);
    await pod.admit(matchId, 10);
    expect(await grantedFans(matchId)).toEqual([holder, waiter]);
    expect(await eventsOf(matchId, 'queue.front_reached')).toHaveLength(1);
    await pause(350);
    await pod.renewPresence(matchId, [unsteady]);
    await makeAway(matchId, 400, [unsteady]);
    await pod.completeWindow(matchId, waiter);
    await pod.admit(matchId, 10);
    expect(await eventsOf(matchId, 'queue.front_reached')).toHaveLength(2);
  });

  test('is one of 1,000 absent fans at the front: one run of AdvanceLine skips all of these and grants the turns to the fans behind', async () => {
    const matchId = await fixture.match({ ...FAST, max_open_windows: 3 });
    const users = newFanIds(1003);
    await Promise.all(users.map((user) => fixture.lines.join(matchId, user)));
    await makeAway(matchId, 61_000, users.slice(0, 1000));
    expect((await fixture.lines.admit(matchId, 20)).hasMore).toBe(true);
    await new AdvanceLine(fixture.lines).runOnce(matchId);
    expect(await grantedFans(matchId)).toEqual(users.slice(1000));
    expect(await eventsOf(matchId, 'queue.front_reached')).toHaveLength(1000);
    expect((await fixture.lines.admit(matchId, 20)).hasMore).toBe(false);
  });

  test('gets no turn in random lines: turns are granted only to present fans, and strictly in line order', async () => {
    for (let run = 0; run < 6; run += 1) {
      const matchId = await fixture.match({ ...FAST, max_open_windows: 1000 });
      let line = await joinFans(matchId, 60);
      const expected: string[] = [];
      for (let step = 0; step < 12; step += 1) {
        const away = line.filter(() => Math.random() < 0.4);
        const here = line.filter((user) => !away.includes(user));
        if (here.length > 0) await fixture.lines.renewPresence(matchId, here);
        await makeAway(matchId, 61_000, away);
        const count = 1 + Math.floor(Math.random() * 4);
        await fixture.lines.change(matchId, { max_open_windows: expected.length + count });
        await fixture.redis.hset(queueKeys.meta(matchId), 'tokens', 100);
        await fixture.lines.admit(matchId, 50);
        const next = here.slice(0, count);
        expected.push(...next);
        line = line.filter((user) => !next.includes(user));
        expect(await grantedFans(matchId)).toEqual(expected);
      }
    }
  });
});

describe('a fan who is away for longer than QUEUE_PERSISTENCE_SECONDS', () => {
  test('is dropped: the state is `expired`, and fans behind move up', async () => {
    const matchId = await fixture.match({ max_open_windows: 0 });
    const [gone, back, behind] = (await joinFans(matchId, 3)) as [string, string, string];
    const token = (await fixture.lines.pollEntry(matchId, gone))!.queueToken!;
    await makeAway(matchId, 59_000, [gone, back]);
    expect(await fixture.lines.dropAbsent(matchId, 10)).toBe(0);
    await makeAway(matchId, 61_000, [gone]);
    expect(await fixture.lines.dropAbsent(matchId, 10)).toBe(1);
    expect(await positionOf(matchId, behind)).toBe(2);
    expect((await fixture.lines.pollEntry(matchId, gone))?.state).toEqual({ kind: 'over', status: 'expired' });
    expect((await fixture.lines.readToken(token))?.entry.state).toEqual({ kind: 'over', status: 'expired' });
    expect(await fixture.redis.zscore(queueKeys.seen(matchId), gone)).toBeNull();
    const again = await fixture.lines.join(matchId, gone);
    expect(again.kind === 'created' && again.entry.state).toEqual({ kind: 'waiting', position: 3 });
  });

  test('is dropped by a regular run of AdvanceLine, without a request', async () => {
    const matchId = await fixture.match({ max_open_windows: 0 });
    const [gone] = (await joinFans(matchId, 2)) as [string];
    await makeAway(matchId, 61_000, [gone]);
    await new AdvanceLine(fixture.lines).runOnce(matchId);
    expect((await fixture.lines.readQueue(matchId))!.total).toBe(1);
  });

  test('is neither dropped nor skipped if no pod was running in that time', async () => {
    const matchId = await fixture.match({ ...FAST, max_open_windows: 1 });
    const [first] = (await joinFans(matchId, 3)) as [string];
    await fixture.lines.dropAbsent(matchId, 10);
    // Simulates that no pod ran for two hours.
    const users = await fixture.redis.zrange(queueKeys.line(matchId), '0', '-1');
    await makeAway(matchId, 2 * HOUR_MS, users);
    await fixture.redis.hset(queueKeys.meta(matchId), 'swept_at', Date.now() - 2 * HOUR_MS);
    await new AdvanceLine(fixture.lines).runOnce(matchId);
    await new AdvanceLine(fixture.lines).runOnce(matchId);
    expect(await grantedFans(matchId)).toEqual([first]);
    expect((await fixture.lines.readQueue(matchId))!.total).toBe(2);
  });
});

describe('presence of a fan', () => {
  async function connected(presenceMs = 400) {
    const pod = fixture.pod({ presenceMs });
    const matchId = await fixture.match({ ...FAST, max_open_windows: 0 });
    const [me] = newFanIds(1) as [string];
    const joined = await pod.join(matchId, me);
    const token = joined.kind === 'created' ? joined.entry.queueToken! : '';
    const isPresent = async () => {
      await fixture.lines.change(matchId, { max_open_windows: 1 });
      return (await pod.admit(matchId, 1)).granted === 1;
    };
    return { pod, matchId, me, token, isPresent };
  }

  test.each([
    ['a join makes the fan present', async () => undefined, 100, true],
    ['a join older than the presence period does not make the fan present', async () => undefined, 500, false],
    [
      'a poll makes the fan present',
      async ({ pod, matchId, me }) => void (await pause(300), await pod.pollEntry(matchId, me)),
      300,
      true,
    ],
    [
      'a report of the pod about a connection makes the fan present',
      async ({ pod, matchId, me }) => void (await pause(300), await pod.renewPresence(matchId, [me])),
      300,
      true,
    ],
  ] as [string, (fan: Awaited<ReturnType<typeof connected>>) => Promise<void>, number, boolean][])(
    'a fan is present for some time after a join or a sign of life: %s',
    async (_fact, giveSign, waitMs, expected) => {
      const fan = await connected();
      await giveSign(fan);
      await pause(waitMs);
      expect(await fan.isPresent()).toBe(expected);
    },
  );

  test('ends 5 s after the last connection has closed, if the last poll is older than the presence period', async () => {
    const { pod, matchId, me, token, isPresent } = await connected(20_000);
    await pod.keepEntry({ matchId, userId: me, token }, ['pod1-1']);
    // Set the time of the last join or poll to 30 s ago, then close the connection.
    const session = JSON.parse((await fixture.redis.get(queueKeys.session(me, matchId)))!) as Record<string, unknown>;
    const text = JSON.stringify({ ...session, polled_at: Date.now() - 30_000 });
    await fixture.redis.set(queueKeys.session(me, matchId), text, 'EX', 60);
    await pod.removeConnections(matchId, [{ userId: me, websocketId: 'pod1-1' }]);
    const goneAt = Number(await fixture.redis.zscore(queueKeys.gone(matchId), me));
    expect(Math.abs(goneAt - Date.now() - 5000)).toBeLessThan(1000);
    await fixture.redis.zadd(queueKeys.gone(matchId), Date.now() - 1, me);
    expect(await isPresent()).toBe(false);
    await pod.keepEntry({ matchId, userId: me, token }, ['pod2-1']);
    expect(await isPresent()).toBe(true);
  });

  test('lasts for the presence period after a poll, even if the connection closes before its end', async () => {
    const { pod, matchId, me, token, isPresent } = await connected(20_000);
    await pod.keepEntry({ matchId, userId: me, token }, ['pod1-1']);
    await pod.removeConnections(matchId, [{ userId: me, websocketId: 'pod1-1' }]);
    expect(Number(await fixture.redis.zscore(queueKeys.gone(matchId), me))).toBeGreaterThan(Date.now() + 15_000);
    expect(await isPresent()).toBe(true);
  });

  test('does not end when a connection closes while another pod has a newer connection of the fan', async () => {
    const { pod, matchId, me, token } = await connected(20_000);
    await pod.keepEntry({ matchId, userId: me, token }, ['pod1-1']);
    await pod.keepEntry({ matchId, userId: me, token }, ['pod2-1']);
    await pod.removeConnections(matchId, [{ userId: me, websocketId: 'pod1-1' }]);
    expect(await fixture.redis.zscore(queueKeys.gone(matchId), me)).toBeNull();
  });
});
