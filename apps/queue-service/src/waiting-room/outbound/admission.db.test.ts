import { queueKeys } from '#contracts/queue-keys';
import { newFanIds, lineFixture, pause, type LineFixture } from '../testing/line-fixture.ts';

let fixture: LineFixture;
beforeAll(async () => (fixture = await lineFixture()));
afterAll(() => fixture.close());

/** Joins new fans one after the other. Returns their ids in line order. */
async function joinFans(matchId: string, count: number): Promise<string[]> {
  const users = newFanIds(count);
  for (const user of users) await fixture.lines.join(matchId, user);
  return users;
}

/** Sets the token bucket: it held `tokens` when it was last written, `msAgo` milliseconds ago. */
async function setBucket(matchId: string, tokens: number, msAgo: number): Promise<void> {
  await fixture.redis.hset(queueKeys.meta(matchId), 'tokens', tokens, 'tokens_at', Date.now() - msAgo);
}

describe('the token bucket of admission', () => {
  test.each([
    ['when the sale opens, the bucket is full: it holds the turns of one second', { processing_rate: 600 }, undefined, 10],
    ['with a rate below one turn a second the bucket holds one token when the sale opens', { processing_rate: 6 }, undefined, 1],
    ['a fraction of a token grants no turn', { processing_rate: 90 }, undefined, 1],
    ['half a second at 600 a minute gives 5 tokens', { processing_rate: 600 }, [0, 500], 5],
    ['the bucket never holds more than the turns of one second', { processing_rate: 600 }, [0, 60_000], 10],
    ['new tokens are added to the remaining tokens', { processing_rate: 600 }, [3, 200], 5],
    ['ten seconds at 6 a minute give 1 token', { processing_rate: 6 }, [0, 10_050], 1],
    ['nine seconds at 6 a minute give no token', { processing_rate: 6 }, [0, 9000], 0],
    ['0.3 and 0.7 tokens are one token', { processing_rate: 60 }, [0.3, 700], 1],
    [
      'after the clock was set back the bucket keeps its tokens and gets no new tokens',
      { processing_rate: 600 },
      [4, -3_600_000],
      4,
    ],
  ] as const)('the number of tokens limits the turns granted: %s', async (_fact, change, bucket, granted) => {
    const matchId = await fixture.match(change);
    await joinFans(matchId, 15);
    if (bucket) await setBucket(matchId, bucket[0], bucket[1]);
    expect((await fixture.lines.admit(matchId, 50)).granted).toBe(granted);
  });

  test('the bucket fills while the queue is paused, but no turn is granted', async () => {
    const matchId = await fixture.match({ processing_rate: 600 });
    await joinFans(matchId, 15);
    await setBucket(matchId, 0, 0);
    await fixture.lines.change(matchId, { status: 'paused' });
    await pause(350);
    expect((await fixture.lines.admit(matchId, 50)).granted).toBe(0);
    await fixture.lines.change(matchId, { status: 'active' });
    const { granted } = await fixture.lines.admit(matchId, 50);
    expect(granted).toBeGreaterThanOrEqual(3);
    expect(granted).toBeLessThan(10);
  });

  test('after a change of the rate the bucket keeps its tokens, at most its new capacity', async () => {
    const matchId = await fixture.match({ processing_rate: 600 });
    await joinFans(matchId, 15);
    await setBucket(matchId, 8, 0);
    await fixture.lines.change(matchId, { processing_rate: 6000 });
    expect(Math.floor(Number(await fixture.redis.hget(queueKeys.meta(matchId), 'tokens')))).toBe(8);
    await fixture.lines.change(matchId, { processing_rate: 120 });
    expect(Number(await fixture.redis.hget(queueKeys.meta(matchId), 'tokens'))).toBe(2);
  });

  test('in two seconds at 300 turns a minute, the turns of one full bucket and then 5 a second are granted', async () => {
    const matchId = await fixture.match({ processing_rate: 300 });
    await joinFans(matchId, 40);
    let granted = 0;
    const startedAt = Date.now();
    let lastAt = startedAt;
    // On a busy machine more than a second may pass between two calls of `admit`. The token bucket is then full and gains no more
    // tokens; this is the sum of such times.
    let overflowMs = 0;
    while (Date.now() - startedAt < 2000) {
      overflowMs += Math.max(0, Date.now() - lastAt - 950);
      lastAt = Date.now();
      granted += (await fixture.lines.admit(matchId, 50)).granted;
      await pause(20);
    }
    const elapsedMs = Date.now() - startedAt;
    expect(granted).toBeGreaterThanOrEqual(Math.floor(5 + (elapsedMs - overflowMs - 100) / 200));
    expect(granted).toBeLessThanOrEqual(Math.ceil(5 + (elapsedMs + 50) / 200));
  });
});

describe('the limits of admission', () => {
  test('turns are granted from the front, in the order of joining', async () => {
    const matchId = await fixture.match({ processing_rate: 60_000 });
    const users = await joinFans(matchId, 12);
    const { granted, hasMore } = await fixture.lines.admit(matchId, 5);
    expect([granted, hasMore]).toEqual([5, true]);
    expect(await fixture.redis.zrange(queueKeys.line(matchId), '0', '-1')).toEqual(users.slice(5));
    expect((await fixture.redis.hkeys(queueKeys.windows(matchId))).sort()).toEqual(users.slice(0, 5).sort());
  });

  test('two pods that grant turns at the same time with max_open_windows 20 never open more than 20 windows', async () => {
    const matchId = await fixture.match({ processing_rate: 1_000_000, max_open_windows: 20 });
    await joinFans(matchId, 200);
    const pods = [fixture.pod(), fixture.pod()];
    let maxOpen = 0;
    await Promise.all(
      pods.map(async (pod) => {
        for (let call = 0; call < 60; call += 1) {
          await pod.admit(matchId, 7);
          const open = await fixture.redis.hkeys(queueKeys.windows(matchId));
          maxOpen = Math.max(maxOpen, open.length);
          // Windows are completed all the time, so that windows become free and the limit is reached many times.
          for (const user of open.slice(0, 3)) await pod.completeWindow(matchId, user);
        }
      }),
    );
    expect(maxOpen).toBe(20);
    expect((await fixture.lines.readQueue(matchId))!.completed).toBeGreaterThan(50);
  });

  test('negative control: counting windows and granting turns in two separate steps opens more than 20 windows', async () => {
    const matchId = await fixture.match({ processing_rate: 1_000_000, max_open_windows: 20 });
    await joinFans(matchId, 200);
    const grantInTwoSteps = async () => {
      const room = 20 - (await fixture.redis.hlen(queueKeys.windows(matchId)));
      if (room <= 0) return;
      const front = await fixture.redis.zpopmin(queueKeys.line(matchId), Math.min(room, 7));
      for (let index = 0; index < front.length; index += 2)
        await fixture.redis.hset(queueKeys.windows(matchId), front[index]!, '{}');
    };
    await Promise.all(Array.from({ length: 6 }, grantInTwoSteps));
    expect(await fixture.redis.hlen(queueKeys.windows(matchId))).toBeGreaterThan(20);
  });

  test.each([
    ['useful_windows limits the turns', { useful_windows: 3 }, 3],
    ['useful_windows 0 grants no turn', { useful_windows: 0 }, 0],
    ['useful_windows above max_open_windows has no effect', { useful_windows: 50, max_open_windows: 4 }, 4],
    ['max_open_windows 0 grants no turn', { max_open_windows: 0 }, 0],
  ])('the smaller of max_open_windows and useful_windows limits the turns: %s', async (_fact, change, granted) => {
    const matchId = await fixture.match({ processing_rate: 60_000, ...change });
    await joinFans(matchId, 10);
    expect((await fixture.lines.admit(matchId, 50)).granted).toBe(granted);
  });

  test('useful_windows null removes the limit', async () => {
    const matchId = await fixture.match({ processing_rate: 60_000, useful_windows: 0 });
    await joinFans(matchId, 3);
    await fixture.lines.change(matchId, { useful_windows: null });
    expect((await fixture.lines.admit(matchId, 50)).granted).toBe(3);
  });
});

describe('a granted turn', () => {
  test('has its session token and end in the hash of windows, and joining again returns the same turn', async () => {
    const matchId = await fixture.match();
    const [me] = (await joinFans(matchId, 1)) as [string];
    await fixture.lines.admit(matchId, 5);
    const window = JSON.parse((await fixture.redis.hget(queueKeys.windows(matchId), me))!);
    expect(window.session_token).toMatch(/^st_[\w-]{43}$/);
    expect(Math.abs(Date.parse(window.expires_at) - Date.now() - 60_000)).toBeLessThan(2000);
    const again = await fixture.lines.join(matchId, me);
    if (again.kind !== 'kept') throw new Error('not kept');
    expect(again.entry.state).toEqual({ kind: 'granted', expiresAt: window.expires_at, sessionToken: window.session_token });
    // The fan's session lives longer than the turn, so that the fan can still read that the turn has ended.
    expect(await fixture.redis.ttl(queueKeys.session(me, matchId))).toBeGreaterThan(60);
  });

  test('ends on the clock of Redis without connected fans; the next fan gets a turn, and joining again goes to the end of the line', async () => {
    const pod = fixture.pod({ purchaseWindowMs: 200 });
    const matchId = await fixture.match({ processing_rate: 60_000, max_open_windows: 1 });
    const [first, second, third] = (await joinFans(matchId, 3)) as [string, string, string];
    await pod.admit(matchId, 5);
    expect(await pod.endWindows(matchId, 10)).toBe(0);
    await pause(250);
    // An expired window counts as ended even before endWindows has run.
    expect((await pod.pollEntry(matchId, first))?.state).toEqual({ kind: 'over', status: 'expired' });
    expect(await pod.endWindows(matchId, 10)).toBe(1);
    expect((await pod.admit(matchId, 5)).granted).toBe(1);
    expect((await pod.pollEntry(matchId, second))?.state.kind).toBe('granted');
    const again = await pod.join(matchId, first);
    expect(again.kind === 'created' && again.entry.state).toEqual({ kind: 'waiting', position: 2 });
    expect((await pod.pollEntry(matchId, third))?.state).toEqual({ kind: 'waiting', position: 1 });
  });

  test('is ended by completeWindow once, and a late call with an earlier session token does not end a newer window', async () => {
    const matchId = await fixture.match({ processing_rate: 60_000 });
    const [me] = (await joinFans(matchId, 1)) as [string];
    await fixture.lines.admit(matchId, 5);
    const { session_token: oldToken } = JSON.parse((await fixture.redis.hget(queueKeys.windows(matchId), me))!);
    await fixture.lines.completeWindow(matchId, me);
    await fixture.lines.completeWindow(matchId, me);
    expect((await fixture.lines.pollEntry(matchId, me))?.state).toEqual({ kind: 'over', status: 'completed' });
    expect(await fixture.lines.readQueue(matchId)).toMatchObject({ granted: 1, completed: 1, expired: 0, openWindows: 0 });
    await fixture.lines.join(matchId, me);
    await fixture.lines.admit(matchId, 5);
    await fixture.lines.completeWindow(matchId, me, oldToken);
    expect((await fixture.lines.pollEntry(matchId, me))?.state.kind).toBe('granted');
  });

  test('ends when the fan leaves, and another fan gets a turn', async () => {
    const matchId = await fixture.match({ processing_rate: 60_000, max_open_windows: 1 });
    const [first, second] = (await joinFans(matchId, 2)) as [string, string];
    await fixture.lines.admit(matchId, 5);
    await fixture.lines.leave(matchId, first);
    expect((await fixture.lines.pollEntry(matchId, first))?.state).toEqual({ kind: 'not_in_line' });
    await fixture.lines.admit(matchId, 5);
    expect((await fixture.lines.pollEntry(matchId, second))?.state.kind).toBe('granted');
  });

  test('has its length measured when it ends, for the estimated waits', async () => {
    const matchId = await fixture.match({ processing_rate: 60_000 });
    const [me] = (await joinFans(matchId, 1)) as [string];
    await fixture.lines.admit(matchId, 5);
    await pause(120);
    await fixture.lines.completeWindow(matchId, me);
    const { measured } = (await fixture.lines.readQueue(matchId))!;
    expect(measured!.meanMs).toBeGreaterThanOrEqual(100);
    expect(measured!.meanMs).toBeLessThan(2000);
    expect([measured!.windows, measured!.varianceS2]).toEqual([1, 0]);
  });

  test('mean and variance of the length of several windows are measured correctly', async () => {
    const matchId = await fixture.match({ processing_rate: 60_000 });
    const minutes = [1, 3, 5, 7];
    const users = await joinFans(matchId, minutes.length);
    await fixture.lines.admit(matchId, 5);
    for (const [index, user] of users.entries()) {
      const window = JSON.parse((await fixture.redis.hget(queueKeys.windows(matchId), user))!) as Record<string, unknown>;
      // Set the time at which the turn was granted back by `minutes`.
      const text = JSON.stringify({ ...window, granted_at_ms: Date.now() - minutes[index]! * 60_000 });
      await fixture.redis.hset(queueKeys.windows(matchId), user, text);
      await fixture.lines.completeWindow(matchId, user);
    }
    const { measured } = (await fixture.lines.readQueue(matchId))!;
    expect(measured!.windows).toBe(4);
    expect(measured!.meanMs / 60_000).toBeCloseTo(4, 1);
    expect(Math.sqrt(measured!.varianceS2) / 60).toBeCloseTo(Math.sqrt(5), 1);
  });
});
