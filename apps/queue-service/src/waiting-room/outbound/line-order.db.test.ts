import { queueKeys } from '#contracts/queue-keys';
import { fans, lineFixture, pause, type LineFixture } from '../testing/line-fixture.ts';
import { ownerOfToken } from './queue-token.ts';

let fixture: LineFixture;
beforeAll(async () => (fixture = await lineFixture()));
afterAll(() => fixture.close());

/** Pairs of fans of whom the one that came later stands in front. */
function inversions(line: readonly string[], order: ReadonlyMap<string, number>): number {
  let found = 0;
  for (let at = 1; at < line.length; at += 1) if (order.get(line[at - 1]!)! > order.get(line[at]!)!) found += 1;
  return found;
}

describe('the order of a line', () => {
  test('2,000 fans over two pods stand in the order Redis took them: no inversion', async () => {
    const matchId = await fixture.match();
    const pods = [fixture.pod(), fixture.pod()];
    const users = fans(2000);
    const answers = await Promise.all(
      users.map(async (user, at) => {
        const outcome = await pods[at % 2]!.join(matchId, user);
        if (outcome.kind !== 'created' || outcome.entry.state.kind !== 'waiting') throw new Error('not created');
        return { user, position: outcome.entry.state.position };
      }),
    );
    // The position told at the join is the order of arrival, as nobody leaves meanwhile.
    const arrival = new Map(answers.map(({ user, position }) => [user, position]));
    const line = await fixture.redis.zrange(queueKeys.line(matchId), '0', '-1');
    expect(line).toHaveLength(2000);
    expect(new Set(arrival.values()).size).toBe(2000);
    expect(inversions(line, arrival)).toBe(0);
    // Each pod sends in order, so nobody overtakes within a pod either.
    for (const pod of [0, 1]) {
      const own = users.filter((_user, at) => at % 2 === pod);
      expect(own.every((user, at) => at === 0 || arrival.get(own[at - 1]!)! < arrival.get(user)!)).toBe(true);
    }
  });

  test('control: with scores in milliseconds the same crowd is out of order', async () => {
    const key = `control:{${(await fixture.match()).slice(0, 8)}}`;
    const users = fans(2000);
    const script =
      "local t = redis.call('TIME') redis.call('ZADD', KEYS[1], math.floor((t[1] * 1000000 + t[2]) / 1000), ARGV[1])";
    await Promise.all(users.map((user) => fixture.redis.eval(script, 1, key, user)));
    const line = await fixture.redis.zrange(key, '0', '-1');
    expect(inversions(line, new Map(users.map((user, at) => [user, at])))).toBeGreaterThan(0);
  });

  test('a clock set back does not let a newcomer in front', async () => {
    const matchId = await fixture.match();
    const [early, late] = fans(2) as [string, string];
    await fixture.lines.join(matchId, early);
    // As if Redis' clock had been an hour ahead when the first fan came.
    const ahead = String((Date.now() + 3_600_000) * 1000);
    await fixture.redis.zadd(queueKeys.line(matchId), ahead, early);
    await fixture.redis.hset(queueKeys.meta(matchId), 'last_score', ahead);
    await fixture.lines.join(matchId, late);
    expect(await fixture.redis.zrange(queueKeys.line(matchId), '0', '-1')).toEqual([early, late]);
    expect(Number(await fixture.redis.zscore(queueKeys.line(matchId), late))).toBe(Number(ahead) + 1);
  });
});

describe('a place', () => {
  test('joining again, on any pod, keeps entry, token and score', async () => {
    const matchId = await fixture.match();
    const [me, other] = fans(2) as [string, string];
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
    ['before anybody has a turn', 0],
    ['while others have turns', 1],
  ])('%s, those of a batch who were there before keep theirs, and the others follow without a gap', async (_when, turns) => {
    const matchId = await fixture.match();
    const users = fans(90);
    const early = users.filter((_user, at) => at % 3 === 0);
    if (turns > 0) await fixture.redis.hset(queueKeys.windows(matchId), 'somebody else', '{}');
    // One to open the way, so that all the others come in one batch.
    const before = await Promise.all(early.map((user) => fixture.lines.join(matchId, user)));
    const pod = fixture.pod();
    const [, ...outcomes] = await Promise.all(['opener', ...users].map((user) => pod.join(matchId, user)));
    const scores = outcomes.map((outcome) => ('entry' in outcome ? outcome.entry.score : undefined));
    expect(outcomes.map(({ kind }) => kind)).toEqual(users.map((_user, at) => (at % 3 === 0 ? 'kept' : 'created')));
    expect(early.map((user) => scores[users.indexOf(user)])).toEqual(
      before.map((outcome) => ('entry' in outcome ? outcome.entry.score : undefined)),
    );
    const positions = outcomes.flatMap((outcome) =>
      outcome.kind === 'created' && outcome.entry.state.kind === 'waiting' ? outcome.entry.state.position : [],
    );
    expect(positions).toEqual(Array.from({ length: 60 }, (_, at) => 32 + at));
    const line = await fixture.redis.zrange(queueKeys.line(matchId), '0', '-1', 'WITHSCORES');
    const entries = new Map(Array.from({ length: 91 }, (_, at) => [line[2 * at]!, [at + 1, line[2 * at + 1]] as const]));
    for (const [at, user] of users.entries())
      if (at % 3 > 0) expect(entries.get(user)).toEqual([positions[at - Math.floor(at / 3) - 1], scores[at]]);
    expect(await fixture.redis.hget(queueKeys.meta(matchId), 'joins')).toBe('91');
    for (const user of users) expect(await fixture.redis.exists(queueKeys.session(user, matchId))).toBe(1);
  });

  test('in one batch everybody is found where they are: in a turn, after a turn, in line, or new', async () => {
    const short = fixture.pod({ purchaseWindowMs: 400 });
    const matchId = await fixture.match({ processingRate: 6000, maxOpenWindows: 100 });
    const ended = fans(5);
    for (const user of ended) await short.join(matchId, user);
    await short.admit(matchId, 5);
    const open = fans(5);
    for (const user of open) await fixture.lines.join(matchId, user);
    await fixture.lines.admit(matchId, 5);
    const early = fans(5);
    for (const user of early) await fixture.lines.join(matchId, user);
    await pause(450);
    const late = fans(10);
    const users = [...late.slice(0, 5), ...ended, ...open, ...early, ...late.slice(5)];
    // One to open the way, so that all the others come in one batch.
    const [, ...outcomes] = await Promise.all(['opener', ...users].map((user) => short.join(matchId, user)));
    const told = new Map(
      outcomes.map((outcome, at) => [users[at]!, 'entry' in outcome ? [outcome.kind, outcome.entry.state] : []]),
    );
    for (const user of open) expect(told.get(user)).toMatchObject(['kept', { kind: 'granted' }]);
    for (const [at, user] of early.entries()) expect(told.get(user)).toEqual(['kept', { kind: 'waiting', position: at + 1 }]);
    // Behind the five and the opener, in the order they came, whether they are new or their turn was over.
    const newcomers = users.filter((user) => !open.includes(user) && !early.includes(user));
    expect(newcomers.map((user) => told.get(user))).toEqual(
      newcomers.map((_user, at) => ['created', { kind: 'waiting', position: 7 + at }]),
    );
    expect(await fixture.redis.zrange(queueKeys.line(matchId), '0', '-1')).toEqual([...early, 'opener', ...newcomers]);
  });

  test('it is kept as the contract says: line, meta and session under their keys', async () => {
    const matchId = await fixture.match();
    const [me] = fans(1) as [string];
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
    expect(ownerOfToken(joined.entry.queueToken!)).toEqual({ matchId, userId: me });
    expect(joined.entry.queueToken).toMatch(/^[\w-]{1,100}$/);
  });

  test('leaving moves everybody behind up, and joining again goes to the end with a new token', async () => {
    const matchId = await fixture.match();
    const [first, second, third] = fans(3) as [string, string, string];
    const before = await fixture.lines.join(matchId, first);
    await fixture.lines.join(matchId, second);
    await fixture.lines.join(matchId, third);
    await fixture.lines.leave(matchId, first);
    await fixture.lines.leave(matchId, first);
    expect((await fixture.lines.visit(matchId, first))?.state).toEqual({ kind: 'nowhere' });
    expect((await fixture.lines.visit(matchId, third))?.state).toEqual({ kind: 'waiting', position: 2 });
    expect(await fixture.redis.hget(queueKeys.meta(matchId), 'total_size')).toBe('2');
    const after = await fixture.lines.join(matchId, first);
    if (before.kind !== 'created' || after.kind !== 'created') throw new Error('wrong outcome');
    expect(after.entry.state).toEqual({ kind: 'waiting', position: 3 });
    expect(after.entry.queueToken).not.toBe(before.entry.queueToken);
    expect((await fixture.lines.readToken(before.entry.queueToken!))?.entry.state).toEqual({ kind: 'over', status: 'left' });
  });

  test('asking for it never creates one', async () => {
    const matchId = await fixture.match();
    expect((await fixture.lines.visit(matchId, fans(1)[0]!))?.state).toEqual({ kind: 'nowhere' });
    expect(await fixture.redis.zcard(queueKeys.line(matchId))).toBe(0);
    expect(await fixture.lines.visit(await fixture.withoutQueue(), fans(1)[0]!)).toBeUndefined();
  });

  test('a token dies without a sign of life, and any sign renews it', async () => {
    const pod = fixture.pod({ persistenceSeconds: 2 });
    const matchId = await fixture.match();
    const [quiet, asking] = fans(2) as [string, string];
    const joins = [await pod.join(matchId, quiet), await pod.join(matchId, asking)];
    const [quietToken, askingToken] = joins.map((join) => (join.kind === 'created' ? join.entry.queueToken! : ''));
    await pause(1200);
    await pod.visit(matchId, asking);
    await pause(1500);
    expect(await pod.readToken(quietToken!)).toBeUndefined();
    expect((await pod.readToken(askingToken!))?.entry.state).toEqual({ kind: 'waiting', position: 2 });
    // The place itself is still there; the fan gets a new token for it.
    const again = await pod.join(matchId, quiet);
    if (again.kind !== 'kept') throw new Error('the place is gone');
    expect(again.entry.state).toEqual({ kind: 'waiting', position: 1 });
    expect(again.entry.queueToken).not.toBe(quietToken);
  });

  test('a connected device keeps it alive and is the latest socket; an old token does not', async () => {
    const matchId = await fixture.match();
    const [me] = fans(1) as [string];
    const joined = await fixture.lines.join(matchId, me);
    const token = joined.kind === 'created' ? joined.entry.queueToken! : '';
    expect(await fixture.lines.keep({ matchId, userId: me, token }, ['pod-1-7'])).toBe(true);
    expect(JSON.parse((await fixture.redis.get(queueKeys.session(me, matchId)))!)).toMatchObject({
      websocket_id: 'pod-1-7',
      position: 1,
    });
    expect(await fixture.lines.keep({ matchId, userId: me, token: `${token}x` }, ['pod-1-8'])).toBe(false);
    await fixture.lines.leave(matchId, me);
    expect(await fixture.lines.keep({ matchId, userId: me, token }, [])).toBe(false);
  });

  test('positions of many are read in one call: in line, in a turn, or neither', async () => {
    const matchId = await fixture.match({ maxOpenWindows: 1 });
    const [granted, waiting, stranger] = fans(3) as [string, string, string];
    await fixture.lines.join(matchId, granted);
    await fixture.lines.join(matchId, waiting);
    await fixture.lines.admit(matchId, 10);
    const read = await fixture.lines.readPositions(matchId, [stranger, waiting, granted]);
    expect(read.positions).toEqual([-1, 1, 0]);
    expect(read.scores).toEqual([null, Number(await fixture.redis.zscore(queueKeys.line(matchId), waiting)), null]);
    expect(read.queue).toMatchObject({ total: 1, openWindows: 1, granted: 1 });
    expect(await fixture.lines.readPositions(await fixture.withoutQueue(), [stranger])).toEqual({
      positions: [-1],
      scores: [null],
    });
  });
});
