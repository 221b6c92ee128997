import { queueKeys } from '#contracts/queue-keys';
import { newFanIds, lineFixture, pause, TOKEN_SECRETS, type LineFixture } from '../testing/line-fixture.ts';
import { QueueTokens } from './queue-token.ts';

let fixture: LineFixture;
beforeAll(async () => (fixture = await lineFixture()));
afterAll(() => fixture.close());

/** Counts pairs of neighbours in the line of whom the second arrived before the first. */
function inversions(line: readonly string[], order: ReadonlyMap<string, number>): number {
  let found = 0;
  for (let index = 1; index < line.length; index += 1) if (order.get(line[index - 1]!)! > order.get(line[index]!)!) found += 1;
  return found;
}

describe('the order of a line', () => {
  test('2,000 joins over two pods: the line has exactly the order in which Redis processed the joins', async () => {
    const matchId = await fixture.match();
    const pods = [fixture.pod(), fixture.pod()];
    const users = newFanIds(2000);
    const answers = await Promise.all(
      users.map(async (user, index) => {
        const outcome = await pods[index % 2]!.join(matchId, user);
        if (outcome.kind !== 'created' || outcome.entry.state.kind !== 'waiting') throw new Error('not created');
        return { user, position: outcome.entry.state.position };
      }),
    );
    // No fan leaves during the test, so the position returned by the join is the order of arrival.
    const arrival = new Map(answers.map(({ user, position }) => [user, position]));
    const line = await fixture.redis.zrange(queueKeys.line(matchId), '0', '-1');
    expect(line).toHaveLength(2000);
    expect(new Set(arrival.values()).size).toBe(2000);
    expect(inversions(line, arrival)).toBe(0);
    // Each pod sends joins in order, so the order of joins within a pod is kept too.
    for (const pod of [0, 1]) {
      const own = users.filter((_user, index) => index % 2 === pod);
      expect(own.every((user, index) => index === 0 || arrival.get(own[index - 1]!)! < arrival.get(user)!)).toBe(true);
    }
  });

  test('negative control: with scores in milliseconds the same joins stand in the wrong order', async () => {
    const key = `control:{${(await fixture.match()).slice(0, 8)}}`;
    const users = newFanIds(2000);
    const script =
      "local t = redis.call('TIME') redis.call('ZADD', KEYS[1], math.floor((t[1] * 1000000 + t[2]) / 1000), ARGV[1])";
    await Promise.all(users.map((user) => fixture.redis.eval(script, 1, key, user)));
    const line = await fixture.redis.zrange(key, '0', '-1');
    expect(inversions(line, new Map(users.map((user, index) => [user, index])))).toBeGreaterThan(0);
  });

  test('after the clock is set back a new fan still joins at the end', async () => {
    const matchId = await fixture.match();
    const [early, late] = newFanIds(2) as [string, string];
    await fixture.lines.join(matchId, early);
    // Simulates that Redis' clock was an hour ahead when the first fan joined.
    const ahead = String((Date.now() + 3_600_000) * 1000);
    await fixture.redis.zadd(queueKeys.line(matchId), ahead, early);
    await fixture.redis.hset(queueKeys.meta(matchId), 'last_score', ahead);
    await fixture.lines.join(matchId, late);
    expect(await fixture.redis.zrange(queueKeys.line(matchId), '0', '-1')).toEqual([early, late]);
    expect(Number(await fixture.redis.zscore(queueKeys.line(matchId), late))).toBe(Number(ahead) + 1);
  });
});

describe('a queue entry', () => {
  test('is kept with token and score when the fan joins again on any pod', async () => {
    const matchId = await fixture.match();
    const [me, other] = newFanIds(2) as [string, string];
    const first = await fixture.lines.join(matchId, me);
    await fixture.lines.join(matchId, other);
    const again = await fixture.pod().join(matchId, me);
    if (first.kind !== 'created' || again.kind !== 'kept') throw new Error('wrong outcome');
    expect(again.entry.state).toEqual({ kind: 'waiting', position: 1 });
    expect(again.entry.queueToken).toBe(first.entry.queueToken);
    expect(again.entry.score).toBe(first.entry.score);
    expect(again.entry.queue.total).toBe(2);
  });

  test.each([
    ['before any fan has a turn', 0],
    ['while other fans have turns', 1],
  ])('%s: a batch of joins keeps existing queue entries, and new fans get consecutive positions', async (_when, turns) => {
    const matchId = await fixture.match();
    const users = newFanIds(90);
    const early = users.filter((_user, index) => index % 3 === 0);
    if (turns > 0) await fixture.redis.hset(queueKeys.windows(matchId), 'another fan', '{}');
    // The join of `opener` is sent at once, so that all other joins go into one batch.
    const before = await Promise.all(early.map((user) => fixture.lines.join(matchId, user)));
    const pod = fixture.pod();
    const [, ...outcomes] = await Promise.all(['opener', ...users].map((user) => pod.join(matchId, user)));
    const scores = outcomes.map((outcome) => ('entry' in outcome ? outcome.entry.score : undefined));
    expect(outcomes.map(({ kind }) => kind)).toEqual(users.map((_user, index) => (index % 3 === 0 ? 'kept' : 'created')));
    expect(early.map((user) => scores[users.indexOf(user)])).toEqual(
      before.map((outcome) => ('entry' in outcome ? outcome.entry.score : undefined)),
    );
    const positions = outcomes.flatMap((outcome) =>
      outcome.kind === 'created' && outcome.entry.state.kind === 'waiting' ? outcome.entry.state.position : [],
    );
    expect(positions).toEqual(Array.from({ length: 60 }, (_, index) => 32 + index));
    const line = await fixture.redis.zrange(queueKeys.line(matchId), '0', '-1', 'WITHSCORES');
    const entries = new Map(
      Array.from({ length: 91 }, (_, index) => [line[2 * index]!, [index + 1, line[2 * index + 1]] as const]),
    );
    for (const [index, user] of users.entries())
      if (index % 3 > 0) expect(entries.get(user)).toEqual([positions[index - Math.floor(index / 3) - 1], scores[index]]);
    expect(await fixture.redis.hget(queueKeys.meta(matchId), 'joins')).toBe('91');
    for (const user of users) expect(await fixture.redis.exists(queueKeys.session(user, matchId))).toBe(1);
  });

  test('in one batch of joins each fan gets the right outcome: fans in a turn, fans after a turn, fans in line and new fans', async () => {
    const short = fixture.pod({ purchaseWindowMs: 400 });
    const matchId = await fixture.match({ processing_rate: 6000, max_open_windows: 100 });
    const ended = newFanIds(5);
    for (const user of ended) await short.join(matchId, user);
    await short.admit(matchId, 5);
    const open = newFanIds(5);
    for (const user of open) await fixture.lines.join(matchId, user);
    await fixture.lines.admit(matchId, 5);
    const early = newFanIds(5);
    for (const user of early) await fixture.lines.join(matchId, user);
    await pause(450);
    const late = newFanIds(10);
    const users = [...late.slice(0, 5), ...ended, ...open, ...early, ...late.slice(5)];
    // The join of `opener` is sent at once, so that all other joins go into one batch.
    const [, ...outcomes] = await Promise.all(['opener', ...users].map((user) => short.join(matchId, user)));
    const outcomeOf = new Map(
      outcomes.map((outcome, index) => [users[index]!, 'entry' in outcome ? [outcome.kind, outcome.entry.state] : []]),
    );
    for (const user of open) expect(outcomeOf.get(user)).toMatchObject(['kept', { kind: 'granted' }]);
    for (const [index, user] of early.entries())
      expect(outcomeOf.get(user)).toEqual(['kept', { kind: 'waiting', position: index + 1 }]);
    // New fans and fans whose turn has ended stand in order of arrival behind the five waiting fans and the opener.
    const newcomers = users.filter((user) => !open.includes(user) && !early.includes(user));
    expect(newcomers.map((user) => outcomeOf.get(user))).toEqual(
      newcomers.map((_user, index) => ['created', { kind: 'waiting', position: 7 + index }]),
    );
    expect(await fixture.redis.zrange(queueKeys.line(matchId), '0', '-1')).toEqual([...early, 'opener', ...newcomers]);
  });

  test('is stored under the Redis keys of #contracts/queue-keys: line, meta and session', async () => {
    const matchId = await fixture.match();
    const [me] = newFanIds(1) as [string];
    const joined = await fixture.lines.join(matchId, me);
    if (joined.kind !== 'created') throw new Error('not created');
    const meta = await fixture.redis.hgetall(queueKeys.meta(matchId));
    expect(meta).toMatchObject({ total_size: '1', processing_rate: '600', status: 'active' });
    expect(Math.abs(Date.parse(meta.created_at!) - Date.now())).toBeLessThan(5000);
    const session = JSON.parse((await fixture.redis.get(queueKeys.session(me, matchId)))!);
    expect(session).toEqual({
      position: 1,
      queue_token: joined.entry.queueToken,
      websocket_id: null,
    });
    expect(await fixture.redis.ttl(queueKeys.session(me, matchId))).toBe(60);
    expect(new QueueTokens(TOKEN_SECRETS).ownerOf(joined.entry.queueToken!)).toEqual({ matchId, userId: me });
    expect(joined.entry.queueToken).toMatch(/^[\w-]{1,100}$/);
  });

  test('ends when the fan leaves: fans behind move up, and joining again goes to the end with a new token', async () => {
    const matchId = await fixture.match();
    const [first, second, third] = newFanIds(3) as [string, string, string];
    const before = await fixture.lines.join(matchId, first);
    await fixture.lines.join(matchId, second);
    await fixture.lines.join(matchId, third);
    await fixture.lines.leave(matchId, first);
    await fixture.lines.leave(matchId, first);
    expect((await fixture.lines.pollEntry(matchId, first))?.state).toEqual({ kind: 'not_in_line' });
    expect((await fixture.lines.pollEntry(matchId, third))?.state).toEqual({ kind: 'waiting', position: 2 });
    expect(await fixture.redis.hget(queueKeys.meta(matchId), 'total_size')).toBe('2');
    const after = await fixture.lines.join(matchId, first);
    if (before.kind !== 'created' || after.kind !== 'created') throw new Error('wrong outcome');
    expect(after.entry.state).toEqual({ kind: 'waiting', position: 3 });
    expect(after.entry.queueToken).not.toBe(before.entry.queueToken);
    expect((await fixture.lines.readToken(before.entry.queueToken!))?.entry.state).toEqual({ kind: 'over', status: 'left' });
  });

  test('is never created by pollEntry', async () => {
    const matchId = await fixture.match();
    expect((await fixture.lines.pollEntry(matchId, newFanIds(1)[0]!))?.state).toEqual({ kind: 'not_in_line' });
    expect(await fixture.redis.zcard(queueKeys.line(matchId))).toBe(0);
    expect(await fixture.lines.pollEntry(await fixture.matchWithoutQueue(), newFanIds(1)[0]!)).toBeUndefined();
  });

  test('has a token that expires without a sign of life and is renewed by a poll', async () => {
    const pod = fixture.pod({ persistenceSeconds: 2 });
    const matchId = await fixture.match();
    const [quiet, asking] = newFanIds(2) as [string, string];
    const joins = [await pod.join(matchId, quiet), await pod.join(matchId, asking)];
    const [quietToken, askingToken] = joins.map((join) => (join.kind === 'created' ? join.entry.queueToken! : ''));
    await pause(1200);
    await pod.pollEntry(matchId, asking);
    await pause(1500);
    expect(await pod.readToken(quietToken!)).toBeUndefined();
    expect((await pod.readToken(askingToken!))?.entry.state).toEqual({ kind: 'waiting', position: 2 });
    // The queue entry still exists, and the fan gets a new token for it.
    const again = await pod.join(matchId, quiet);
    if (again.kind !== 'kept') throw new Error('the entry was not kept');
    expect(again.entry.state).toEqual({ kind: 'waiting', position: 1 });
    expect(again.entry.queueToken).not.toBe(quietToken);
  });

  test('has its latest connection stored by keepEntry, which returns true only for the current token of the fan', async () => {
    const matchId = await fixture.match();
    const [me] = newFanIds(1) as [string];
    const joined = await fixture.lines.join(matchId, me);
    const token = joined.kind === 'created' ? joined.entry.queueToken! : '';
    expect(await fixture.lines.keepEntry({ matchId, userId: me, token }, ['pod-1-7'])).toBe(true);
    expect(JSON.parse((await fixture.redis.get(queueKeys.session(me, matchId)))!)).toMatchObject({
      websocket_id: 'pod-1-7',
      position: 1,
    });
    expect(await fixture.lines.keepEntry({ matchId, userId: me, token: `${token}x` }, ['pod-1-8'])).toBe(false);
    await fixture.lines.leave(matchId, me);
    expect(await fixture.lines.keepEntry({ matchId, userId: me, token }, [])).toBe(false);
  });

  test('ends when the fan is forgotten, and how it ended is kept for some seconds only', async () => {
    const matchId = await fixture.match();
    const [me] = newFanIds(1) as [string];
    const joined = await fixture.lines.join(matchId, me);
    if (joined.kind !== 'created') throw new Error('wrong outcome');
    await fixture.lines.forget(matchId, me);
    expect((await fixture.lines.pollEntry(matchId, me))?.state).toEqual({ kind: 'not_in_line' });
    const seconds = await fixture.redis.ttl(queueKeys.token(joined.entry.queueToken!, matchId));
    expect(seconds > 0 && seconds <= 5).toBe(true);
    await fixture.lines.forget(matchId, me);
  });

  test('has a position in the reply of readPositions: 1 for the first fan in line, 0 for a fan in a turn, -1 for any other fan', async () => {
    const matchId = await fixture.match({ max_open_windows: 1 });
    const [granted, waiting, stranger] = newFanIds(3) as [string, string, string];
    await fixture.lines.join(matchId, granted);
    await fixture.lines.join(matchId, waiting);
    await fixture.lines.admit(matchId, 10);
    const read = await fixture.lines.readPositions(matchId, [stranger, waiting, granted]);
    expect(read.positions).toEqual([-1, 1, 0]);
    expect(read.scores).toEqual([null, Number(await fixture.redis.zscore(queueKeys.line(matchId), waiting)), null]);
    expect(read.queue).toMatchObject({ total: 1, openWindows: 1, granted: 1 });
    expect(await fixture.lines.readPositions(await fixture.matchWithoutQueue(), [stranger])).toEqual({
      positions: [-1],
      scores: [null],
    });
  });
});
