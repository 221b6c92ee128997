import { queueKeys } from '#contracts/queue-keys';
import { fans, lineFixture, pause, type LineFixture } from '../testing/line-fixture.ts';

let fixture: LineFixture;
beforeAll(async () => (fixture = await lineFixture()));
afterAll(() => fixture.close());

async function crowd(matchId: string, count: number): Promise<string[]> {
  const users = fans(count);
  for (const user of users) await fixture.lines.join(matchId, user);
  return users;
}

/** As if the bucket had last been touched that long ago, holding so much. */
async function setBucket(matchId: string, tokens: number, msAgo: number): Promise<void> {
  await fixture.redis.hset(queueKeys.meta(matchId), 'tokens', tokens, 'tokens_at', Date.now() - msAgo);
}

describe('the bucket', () => {
  test.each([
    ['full when the sale opens: one second of the rate', { processingRate: 600 }, undefined, 10],
    ['a slow rate still opens with one', { processingRate: 6 }, undefined, 1],
    ['a fraction above one second is kept, not granted', { processingRate: 90 }, undefined, 1],
    ['half a second at 600 a minute is five', { processingRate: 600 }, [0, 500], 5],
    ['it never holds more than one second', { processingRate: 600 }, [0, 60_000], 10],
    ['what was left is added to', { processingRate: 600 }, [3, 200], 5],
    ['ten seconds at 6 a minute are one', { processingRate: 6 }, [0, 10_050], 1],
    ['nine seconds at 6 a minute are not', { processingRate: 6 }, [0, 9000], 0],
    ['three tenths and seven tenths are one', { processingRate: 60 }, [0.3, 700], 1],
    [
      'a bucket from the future (the clock was set back) is not filled, and not lost',
      { processingRate: 600 },
      [4, -3_600_000],
      4,
    ],
  ] as const)('%s', async (_fact, change, bucket, granted) => {
    const matchId = await fixture.match(change);
    await crowd(matchId, 15);
    if (bucket) await setBucket(matchId, bucket[0], bucket[1]);
    expect((await fixture.lines.admit(matchId, 50)).granted).toBe(granted);
  });

  test('it fills while the queue is paused, and nobody is admitted meanwhile', async () => {
    const matchId = await fixture.match({ processingRate: 600 });
    await crowd(matchId, 15);
    await setBucket(matchId, 0, 0);
    await fixture.lines.change(matchId, { status: 'paused' });
    await pause(350);
    expect((await fixture.lines.admit(matchId, 50)).granted).toBe(0);
    await fixture.lines.change(matchId, { status: 'active' });
    const { granted } = await fixture.lines.admit(matchId, 50);
    expect(granted).toBeGreaterThanOrEqual(3);
    expect(granted).toBeLessThan(10);
  });

  test('a new rate keeps the tokens, at most up to its own capacity', async () => {
    const matchId = await fixture.match({ processingRate: 600 });
    await crowd(matchId, 15);
    await setBucket(matchId, 8, 0);
    await fixture.lines.change(matchId, { processingRate: 6000 });
    expect(Math.floor(Number(await fixture.redis.hget(queueKeys.meta(matchId), 'tokens')))).toBe(8);
    await fixture.lines.change(matchId, { processingRate: 120 });
    expect(Number(await fixture.redis.hget(queueKeys.meta(matchId), 'tokens'))).toBe(2);
  });

  test('over two seconds the rate is kept: 300 a minute grants no more than 5 a second after the first bucket', async () => {
    const matchId = await fixture.match({ processingRate: 300 });
    await crowd(matchId, 40);
    let granted = 0;
    const startedAt = Date.now();
    let lastAt = startedAt;
    // What a full bucket could not hold because this machine was too busy to ask for more than a second.
    let spilledMs = 0;
    while (Date.now() - startedAt < 2000) {
      spilledMs += Math.max(0, Date.now() - lastAt - 950);
      lastAt = Date.now();
      granted += (await fixture.lines.admit(matchId, 50)).granted;
      await pause(20);
    }
    const elapsedMs = Date.now() - startedAt;
    expect(granted).toBeGreaterThanOrEqual(Math.floor(5 + (elapsedMs - spilledMs - 100) / 200));
    expect(granted).toBeLessThanOrEqual(Math.ceil(5 + (elapsedMs + 50) / 200));
  });
});

describe('the bounds', () => {
  test('turns are granted from the front, in the order of joining', async () => {
    const matchId = await fixture.match({ processingRate: 60_000 });
    const users = await crowd(matchId, 12);
    const { granted, more } = await fixture.lines.admit(matchId, 5);
    expect([granted, more]).toEqual([5, true]);
    expect(await fixture.redis.zrange(queueKeys.line(matchId), '0', '-1')).toEqual(users.slice(5));
    expect((await fixture.redis.hkeys(queueKeys.windows(matchId))).sort()).toEqual(users.slice(0, 5).sort());
  });

  test('two pods admitting at once with a cap of 20 never open more than 20 windows', async () => {
    const matchId = await fixture.match({ processingRate: 1_000_000, maxOpenWindows: 20 });
    await crowd(matchId, 200);
    const pods = [fixture.pod(), fixture.pod()];
    let most = 0;
    await Promise.all(
      pods.map(async (pod) => {
        for (let round = 0; round < 60; round += 1) {
          await pod.admit(matchId, 7);
          const open = await fixture.redis.hkeys(queueKeys.windows(matchId));
          most = Math.max(most, open.length);
          // Purchases end all the time, so that the cap is approached again and again.
          for (const user of open.slice(0, 3)) await pod.completeWindow(matchId, user);
        }
      }),
    );
    expect(most).toBe(20);
    expect((await fixture.lines.readQueue(matchId))!.completed).toBeGreaterThan(50);
  });

  test('control: counting first and granting after, as two steps, opens more than 20', async () => {
    const matchId = await fixture.match({ processingRate: 1_000_000, maxOpenWindows: 20 });
    await crowd(matchId, 200);
    const grantInTwoSteps = async () => {
      const room = 20 - (await fixture.redis.hlen(queueKeys.windows(matchId)));
      if (room <= 0) return;
      const front = await fixture.redis.zpopmin(queueKeys.line(matchId), Math.min(room, 7));
      for (let at = 0; at < front.length; at += 2) await fixture.redis.hset(queueKeys.windows(matchId), front[at]!, '{}');
    };
    await Promise.all(Array.from({ length: 6 }, grantInTwoSteps));
    expect(await fixture.redis.hlen(queueKeys.windows(matchId))).toBeGreaterThan(20);
  });

  test.each([
    ['useful windows bound it', { usefulWindows: 3 }, 3],
    ['no useful window: nobody', { usefulWindows: 0 }, 0],
    ['a useful number above the cap changes nothing', { usefulWindows: 50, maxOpenWindows: 4 }, 4],
    ['a cap of zero admits nobody', { maxOpenWindows: 0 }, 0],
  ])('%s', async (_fact, change, granted) => {
    const matchId = await fixture.match({ processingRate: 60_000, ...change });
    await crowd(matchId, 10);
    expect((await fixture.lines.admit(matchId, 50)).granted).toBe(granted);
  });

  test('a bound that is taken away binds no more', async () => {
    const matchId = await fixture.match({ processingRate: 60_000, usefulWindows: 0 });
    await crowd(matchId, 3);
    await fixture.lines.change(matchId, { usefulWindows: null });
    expect((await fixture.lines.admit(matchId, 50)).granted).toBe(3);
  });
});

describe('a turn', () => {
  test('it has its proof and end in the hash, and joining again shows the same', async () => {
    const matchId = await fixture.match();
    const [me] = (await crowd(matchId, 1)) as [string];
    await fixture.lines.admit(matchId, 5);
    const window = JSON.parse((await fixture.redis.hget(queueKeys.windows(matchId), me))!);
    expect(window.session_token).toMatch(/^st_[\w-]{43}$/);
    expect(Math.abs(Date.parse(window.expires_at) - Date.now() - 60_000)).toBeLessThan(2000);
    const again = await fixture.lines.join(matchId, me);
    if (again.kind !== 'kept') throw new Error('not kept');
    expect(again.entry.state).toEqual({ kind: 'granted', expiresAt: window.expires_at, sessionToken: window.session_token });
    // Token and session outlive the turn, so that its end can still be told.
    expect(await fixture.redis.ttl(queueKeys.session(me, matchId))).toBeGreaterThan(60);
  });

  test('it ends by Redis time with nobody connected, the next is admitted, and joining again starts at the end', async () => {
    const pod = fixture.pod({ purchaseWindowMs: 200 });
    const matchId = await fixture.match({ processingRate: 60_000, maxOpenWindows: 1 });
    const [first, second, third] = (await crowd(matchId, 3)) as [string, string, string];
    await pod.admit(matchId, 5);
    expect(await pod.endWindows(matchId, 10)).toBe(0);
    await pause(250);
    // Over before anybody has swept it.
    expect((await pod.visit(matchId, first))?.state).toEqual({ kind: 'over', status: 'expired' });
    expect(await pod.endWindows(matchId, 10)).toBe(1);
    expect((await pod.admit(matchId, 5)).granted).toBe(1);
    expect((await pod.visit(matchId, second))?.state.kind).toBe('granted');
    const again = await pod.join(matchId, first);
    expect(again.kind === 'created' && again.entry.state).toEqual({ kind: 'waiting', position: 2 });
    expect((await pod.visit(matchId, third))?.state).toEqual({ kind: 'waiting', position: 1 });
  });

  test('completing ends it once; a late call for an earlier window leaves a newer one alone', async () => {
    const matchId = await fixture.match({ processingRate: 60_000 });
    const [me] = (await crowd(matchId, 1)) as [string];
    await fixture.lines.admit(matchId, 5);
    const { session_token: old } = JSON.parse((await fixture.redis.hget(queueKeys.windows(matchId), me))!);
    await fixture.lines.completeWindow(matchId, me);
    await fixture.lines.completeWindow(matchId, me);
    expect((await fixture.lines.visit(matchId, me))?.state).toEqual({ kind: 'over', status: 'completed' });
    expect(await fixture.lines.readQueue(matchId)).toMatchObject({ granted: 1, completed: 1, expired: 0, openWindows: 0 });
    await fixture.lines.join(matchId, me);
    await fixture.lines.admit(matchId, 5);
    await fixture.lines.completeWindow(matchId, me, old);
    expect((await fixture.lines.visit(matchId, me))?.state.kind).toBe('granted');
  });

  test('leaving gives it up and frees its slot', async () => {
    const matchId = await fixture.match({ processingRate: 60_000, maxOpenWindows: 1 });
    const [first, second] = (await crowd(matchId, 2)) as [string, string];
    await fixture.lines.admit(matchId, 5);
    await fixture.lines.leave(matchId, first);
    expect((await fixture.lines.visit(matchId, first))?.state).toEqual({ kind: 'nowhere' });
    await fixture.lines.admit(matchId, 5);
    expect((await fixture.lines.visit(matchId, second))?.state.kind).toBe('granted');
  });

  test('the length of windows is learned, for the estimates', async () => {
    const matchId = await fixture.match({ processingRate: 60_000 });
    const [me] = (await crowd(matchId, 1)) as [string];
    await fixture.lines.admit(matchId, 5);
    await pause(120);
    await fixture.lines.completeWindow(matchId, me);
    const { measured } = (await fixture.lines.readQueue(matchId))!;
    expect(measured!.meanMs).toBeGreaterThanOrEqual(100);
    expect(measured!.meanMs).toBeLessThan(2000);
    expect([measured!.windows, measured!.varianceS2]).toEqual([1, 0]);
  });

  test('mean and variance of their lengths are those of the windows', async () => {
    const matchId = await fixture.match({ processingRate: 60_000 });
    const minutes = [1, 3, 5, 7];
    const users = await crowd(matchId, minutes.length);
    await fixture.lines.admit(matchId, 5);
    for (const [at, user] of users.entries()) {
      const window = JSON.parse((await fixture.redis.hget(queueKeys.windows(matchId), user))!) as Record<string, unknown>;
      // As if it had been granted so many minutes ago.
      const text = JSON.stringify({ ...window, granted_at_ms: Date.now() - minutes[at]! * 60_000 });
      await fixture.redis.hset(queueKeys.windows(matchId), user, text);
      await fixture.lines.completeWindow(matchId, user);
    }
    const { measured } = (await fixture.lines.readQueue(matchId))!;
    expect(measured!.windows).toBe(4);
    expect(measured!.meanMs / 60_000).toBeCloseTo(4, 1);
    expect(Math.sqrt(measured!.varianceS2) / 60).toBeCloseTo(Math.sqrt(5), 1);
  });
});
