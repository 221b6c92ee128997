import { queueKeys } from '#contracts/queue-keys';
import { MoveLine } from '../application/move-line.ts';
import { fans, lineFixture, pause, type LineFixture } from '../testing/line-fixture.ts';

let fixture: LineFixture;
beforeAll(async () => (fixture = await lineFixture()));
afterAll(() => fixture.close());

const HOUR_MS = 3_600_000;
const FAST = { processingRate: 60_000, maxOpenWindows: 100 };

async function crowd(matchId: string, count: number): Promise<string[]> {
  const users = fans(count);
  for (const user of users) await fixture.lines.join(matchId, user);
  return users;
}

/** As if the last sign of life of these fans had been so long ago. */
async function awayFor(matchId: string, ms: number, users: readonly string[]): Promise<void> {
  for (const user of users) await fixture.redis.zadd(queueKeys.seen(matchId), Date.now() - ms, user);
}

/** In the order in which they were granted. */
async function grantedFans(matchId: string): Promise<string[]> {
  return (await eventsOf(matchId, 'queue.turn_granted')).map(({ user_id }) => user_id);
}

async function eventsOf(matchId: string, name: string): Promise<{ user_id: string }[]> {
  const entries = await fixture.redis.xrange(queueKeys.events(matchId), '-', '+');
  const events = entries.map(([, fields]) => JSON.parse(fields[1]!) as { event: string; user_id: string });
  return events.filter(({ event }) => event === name);
}

const placeOf = async (matchId: string, user: string) => {
  const { positions } = await fixture.lines.readPositions(matchId, [user]);
  return positions[0];
};

describe('who is away when the turn comes', () => {
  test('keeps the first place and is called once, others pass, and on return comes next', async () => {
    const matchId = await fixture.match({ ...FAST, maxOpenWindows: 2 });
    const [away, second, third, fourth] = (await crowd(matchId, 4)) as [string, string, string, string];
    await awayFor(matchId, 61_000, [away]);
    await fixture.lines.admit(matchId, 10);
    await fixture.lines.admit(matchId, 10);
    expect(await grantedFans(matchId)).toEqual([second, third]);
    expect(await eventsOf(matchId, 'queue.front_reached')).toEqual([
      { event: 'queue.front_reached', user_id: away, match_id: matchId },
    ]);
    expect([await placeOf(matchId, away), await placeOf(matchId, fourth)]).toEqual([1, 2]);

    expect((await fixture.lines.visit(matchId, away))?.state).toEqual({ kind: 'waiting', position: 1 });
    await fixture.lines.completeWindow(matchId, second);
    await fixture.lines.admit(matchId, 10);
    expect(await grantedFans(matchId)).toEqual([second, third, away]);
    expect(await eventsOf(matchId, 'queue.front_reached')).toHaveLength(1);
  });

  test('control: without presence the absent fan burns the window', async () => {
    const matchId = await fixture.match({ ...FAST, maxOpenWindows: 1 });
    const [away, here] = (await crowd(matchId, 2)) as [string, string];
    await awayFor(matchId, 61_000, [away]);
    await fixture.pod({ presenceMs: HOUR_MS }).admit(matchId, 10);
    expect(await grantedFans(matchId)).toEqual([away]);
    expect(await placeOf(matchId, here)).toBe(1);
  });

  test('several who come back are granted in the order of the line, before everybody they were passed by', async () => {
    const matchId = await fixture.match({ ...FAST, maxOpenWindows: 1 });
    const users = await crowd(matchId, 6);
    await awayFor(matchId, 61_000, users.slice(0, 3));
    await fixture.lines.admit(matchId, 10);
    expect(await grantedFans(matchId)).toEqual([users[3]]);
    for (const user of [users[2]!, users[0]!, users[1]!]) await fixture.lines.touch(matchId, [user]);
    await fixture.lines.change(matchId, { maxOpenWindows: 5 });
    await fixture.lines.admit(matchId, 10);
    expect(await grantedFans(matchId)).toEqual([users[3], users[0], users[1], users[2], users[4]]);
  });

  test('who comes back and goes again before a window is free is passed again, and called again only after a while', async () => {
    const pod = fixture.pod({ presenceMs: 300 });
    const matchId = await fixture.match({ ...FAST, maxOpenWindows: 1 });
    const [restless, holder, patient] = (await crowd(matchId, 3)) as [string, string, string];
    await awayFor(matchId, 400, [restless]);
    await pod.touch(matchId, [holder, patient]);
    await pod.admit(matchId, 10);
    await pod.touch(matchId, [restless]);
    await awayFor(matchId, 400, [restless]);
    await pod.completeWindow(matchId, holder);
    await pod.touch(matchId, [patient]);
    await pod.admit(matchId, 10);
    expect(await grantedFans(matchId)).toEqual([holder, patient]);
    expect(await eventsOf(matchId, 'queue.front_reached')).toHaveLength(1);
    await pause(350);
    await pod.touch(matchId, [restless]);
    await awayFor(matchId, 400, [restless]);
    await pod.completeWindow(matchId, patient);
    await pod.admit(matchId, 10);
    expect(await eventsOf(matchId, 'queue.front_reached')).toHaveLength(2);
  });

  test('a front of 1,000 who are all away is passed in bounded steps, in one round', async () => {
    const matchId = await fixture.match({ ...FAST, maxOpenWindows: 3 });
    const users = fans(1003);
    await Promise.all(users.map((user) => fixture.lines.join(matchId, user)));
    await awayFor(matchId, 61_000, users.slice(0, 1000));
    expect((await fixture.lines.admit(matchId, 20)).more).toBe(true);
    await new MoveLine(fixture.lines).runOnce(matchId);
    expect(await grantedFans(matchId)).toEqual(users.slice(1000));
    expect(await eventsOf(matchId, 'queue.front_reached')).toHaveLength(1000);
    expect((await fixture.lines.admit(matchId, 20)).more).toBe(false);
  });

  test('in random lines with fans coming and going, grants follow the line among those present: no inversion', async () => {
    for (let round = 0; round < 6; round += 1) {
      const matchId = await fixture.match({ ...FAST, maxOpenWindows: 1000 });
      let line = await crowd(matchId, 60);
      const expected: string[] = [];
      for (let step = 0; step < 12; step += 1) {
        const away = line.filter(() => Math.random() < 0.4);
        const here = line.filter((user) => !away.includes(user));
        if (here.length > 0) await fixture.lines.touch(matchId, here);
        await awayFor(matchId, 61_000, away);
        const count = 1 + Math.floor(Math.random() * 4);
        await fixture.lines.change(matchId, { maxOpenWindows: expected.length + count });
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

describe('who is away for too long', () => {
  test('loses the place after the time of persistence, hears expired, and everybody behind moves up', async () => {
    const matchId = await fixture.match({ maxOpenWindows: 0 });
    const [gone, back, behind] = (await crowd(matchId, 3)) as [string, string, string];
    const token = (await fixture.lines.visit(matchId, gone))!.queueToken!;
    await awayFor(matchId, 59_000, [gone, back]);
    expect(await fixture.lines.dropAbsent(matchId, 10)).toBe(0);
    await awayFor(matchId, 61_000, [gone]);
    expect(await fixture.lines.dropAbsent(matchId, 10)).toBe(1);
    expect(await placeOf(matchId, behind)).toBe(2);
    expect((await fixture.lines.visit(matchId, gone))?.state).toEqual({ kind: 'over', status: 'expired' });
    expect((await fixture.lines.readToken(token))?.entry.state).toEqual({ kind: 'over', status: 'expired' });
    expect(await fixture.redis.zscore(queueKeys.seen(matchId), gone)).toBeNull();
    const again = await fixture.lines.join(matchId, gone);
    expect(again.kind === 'created' && again.entry.state).toEqual({ kind: 'waiting', position: 3 });
  });

  test('with nobody asking the regular round does it', async () => {
    const matchId = await fixture.match({ maxOpenWindows: 0 });
    const [gone] = (await crowd(matchId, 2)) as [string];
    await awayFor(matchId, 61_000, [gone]);
    await new MoveLine(fixture.lines).runOnce(matchId);
    expect((await fixture.lines.readQueue(matchId))!.total).toBe(1);
  });

  test('a time in which no pod could see anybody does not count: nobody is dropped or passed', async () => {
    const matchId = await fixture.match({ ...FAST, maxOpenWindows: 1 });
    const [first] = (await crowd(matchId, 3)) as [string];
    await fixture.lines.dropAbsent(matchId, 10);
    // All pods were away for two hours.
    const users = await fixture.redis.zrange(queueKeys.line(matchId), '0', '-1');
    await awayFor(matchId, 2 * HOUR_MS, users);
    await fixture.redis.hset(queueKeys.meta(matchId), 'swept_at', Date.now() - 2 * HOUR_MS);
    await new MoveLine(fixture.lines).runOnce(matchId);
    await new MoveLine(fixture.lines).runOnce(matchId);
    expect(await grantedFans(matchId)).toEqual([first]);
    expect((await fixture.lines.readQueue(matchId))!.total).toBe(2);
  });
});

describe('signs of life', () => {
  async function connected(presenceMs = 400) {
    const pod = fixture.pod({ presenceMs });
    const matchId = await fixture.match({ ...FAST, maxOpenWindows: 0 });
    const [me] = fans(1) as [string];
    const joined = await pod.join(matchId, me);
    const token = joined.kind === 'created' ? joined.entry.queueToken! : '';
    const isHere = async () => {
      await fixture.lines.change(matchId, { maxOpenWindows: 1 });
      return (await pod.admit(matchId, 1)).granted === 1;
    };
    return { pod, matchId, me, token, isHere };
  }

  test.each([
    ['a join counts', async () => undefined, 100, true],
    ['but not for ever', async () => undefined, 500, false],
    ['a poll counts', async ({ pod, matchId, me }) => void (await pause(300), await pod.visit(matchId, me)), 300, true],
    [
      'a connection counts as long as its pod says so',
      async ({ pod, matchId, me }) => void (await pause(300), await pod.touch(matchId, [me])),
      300,
      true,
    ],
  ] as [string, (fan: Awaited<ReturnType<typeof connected>>) => Promise<void>, number, boolean][])(
    '%s',
    async (_fact, sign, waitMs, here) => {
      const fan = await connected();
      await sign(fan);
      await pause(waitMs);
      expect(await fan.isHere()).toBe(here);
    },
  );

  test('who closes the last connection long after the last poll is away after a moment, not after the time of presence', async () => {
    const { pod, matchId, me, token, isHere } = await connected(20_000);
    await pod.keep({ matchId, userId: me, token }, ['pod1-1']);
    // The join was half a minute ago, the connection has just closed.
    const session = JSON.parse((await fixture.redis.get(queueKeys.session(me, matchId)))!) as Record<string, unknown>;
    const text = JSON.stringify({ ...session, polled_at: Date.now() - 30_000 });
    await fixture.redis.set(queueKeys.session(me, matchId), text, 'EX', 60);
    await pod.part(matchId, [{ userId: me, websocketId: 'pod1-1' }]);
    const goneAt = Number(await fixture.redis.zscore(queueKeys.gone(matchId), me));
    expect(Math.abs(goneAt - Date.now() - 5000)).toBeLessThan(1000);
    await fixture.redis.zadd(queueKeys.gone(matchId), Date.now() - 1, me);
    expect(await isHere()).toBe(false);
    await pod.keep({ matchId, userId: me, token }, ['pod2-1']);
    expect(await isHere()).toBe(true);
  });

  test('a connection that closes soon after a poll leaves the fan present for the rest of its time', async () => {
    const { pod, matchId, me, token, isHere } = await connected(20_000);
    await pod.keep({ matchId, userId: me, token }, ['pod1-1']);
    await pod.part(matchId, [{ userId: me, websocketId: 'pod1-1' }]);
    expect(Number(await fixture.redis.zscore(queueKeys.gone(matchId), me))).toBeGreaterThan(Date.now() + 15_000);
    expect(await isHere()).toBe(true);
  });

  test('a pod that loses a fan whose latest connection is elsewhere says nothing', async () => {
    const { pod, matchId, me, token } = await connected(20_000);
    await pod.keep({ matchId, userId: me, token }, ['pod1-1']);
    await pod.keep({ matchId, userId: me, token }, ['pod2-1']);
    await pod.part(matchId, [{ userId: me, websocketId: 'pod1-1' }]);
    expect(await fixture.redis.zscore(queueKeys.gone(matchId), me)).toBeNull();
  });
});
