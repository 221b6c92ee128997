import { queueEvent } from '#contracts/integration-events';
import { queueKeys } from '#contracts/queue-keys';
import { LineView } from '../domain/line-view.ts';
import { positionsIn } from '../testing/view-positions.ts';
import { AnnouncePositions } from '../application/announce-positions.ts';
import { newFanIds, lineFixture, type LineFixture } from '../testing/line-fixture.ts';

let fixture: LineFixture;
beforeAll(async () => (fixture = await lineFixture()));
afterAll(() => fixture.close());

describe('positions computed from the moves of a line (departures and returns)', () => {
  test('a LineView that applies the moves agrees with Redis after fans have left, got turns, were dropped or were restored', async () => {
    const matchId = await fixture.match({ processing_rate: 60_000, max_open_windows: 0 });
    const view = new LineView<string>(0);
    const scores = new Map<string, number>();
    const follow = async (user: string, receipt?: string) => {
      const outcome = await fixture.lines.join(matchId, user, receipt);
      if (!('entry' in outcome) || outcome.entry.state.kind !== 'waiting') throw new Error(outcome.kind);
      const { state, score, queue } = outcome.entry;
      scores.set(user, Number(score));
      view.add(user, { score: Number(score), position: state.position, asOf: queue.moves });
    };
    const users = newFanIds(80);
    for (const user of users) await follow(user);
    let windows = 0;
    for (let step = 0; step < 60; step += 1) {
      const waiting = await fixture.redis.zrange(queueKeys.line(matchId), '0', '-1');
      const randomFan = () => waiting[Math.floor(Math.random() * waiting.length)]!;
      const action = Math.random();
      if (action < 0.3) await fixture.lines.leave(matchId, randomFan());
      else if (action < 0.5) {
        await fixture.lines.change(matchId, { max_open_windows: (windows += 1) });
        await fixture.lines.admit(matchId, 5);
      } else if (action < 0.6) {
        await fixture.redis.zadd(queueKeys.seen(matchId), Date.now() - 61_000, randomFan(), Date.now() - 61_000, randomFan());
        await fixture.lines.dropAbsent(matchId, 10);
      } else {
        // A receipt with a score just below the score of a random fan, unless a fan has had that score: scores are unique.
        const between = scores.get(randomFan())! - 1;
        const isFree = ![...scores.values()].includes(between);
        await follow(newFanIds(1)[0]!, action < 0.7 && isFree ? String(between) : undefined);
      }
      const read = (await fixture.lines.readMoves(matchId, view.moves))!;
      expect(view.apply(read.moves)).toBeDefined();
      expect(view.moves).toBe(read.queue.moves);
      const line = await fixture.redis.zrange(queueKeys.line(matchId), '0', '-1');
      const positions = positionsIn(view);
      expect(line.map((user) => positions.get(user))).toEqual(line.map((_, index) => index + 1));
    }
  });

  test('closing a queue starts a new epoch (older positions are void), and so does a loss of the queue', async () => {
    const matchId = await fixture.match();
    const epoch = async () => (await fixture.lines.readQueue(matchId))!.epoch;
    const epochs = [await epoch()];
    await fixture.lines.change(matchId, { status: 'closed' });
    epochs.push(await epoch());
    await fixture.redis.del(queueKeys.meta(matchId));
    await fixture.lines.change(matchId, { status: 'active' });
    epochs.push(await epoch());
    expect(new Set(epochs).size).toBe(3);
  });
});

describe('the event queue.position_update', () => {
  async function positionEvents(matchId: string) {
    const entries = await fixture.redis.xrange(queueKeys.events(matchId), '-', '+');
    const events = entries.map(([, fields]) => queueEvent.parse(JSON.parse(fields[1]!)));
    return events.flatMap((event) => (event.event === 'queue.position_update' ? [event.items] : []));
  }

  const announce = (matchId: string) => new AnnouncePositions(fixture.lines, { purchaseWindowMs: 1_200_000 }).runOnce(matchId);
  const moveLastEventBack = (matchId: string) => fixture.redis.hset(queueKeys.meta(matchId), 'positions_at', Date.now() - 61_000);

  /** Makes a line of `count` fans. The returned function `letIn` grants turns to that many fans at the front. */
  async function line(count: number) {
    const matchId = await fixture.match({ processing_rate: 600_000, max_open_windows: 0 });
    const users = newFanIds(count);
    await Promise.all(users.map((user) => fixture.lines.join(matchId, user)));
    let open = 0;
    const letIn = async (howMany: number) => {
      await fixture.lines.change(matchId, { max_open_windows: (open += howMany) });
      while ((await fixture.lines.admit(matchId, 200)).granted > 0);
    };
    return { matchId, users, letIn };
  }

  test('names fans without a connection who passed position 10 or 100, with position and estimate', async () => {
    const { matchId, users, letIn } = await line(130);
    expect(await announce(matchId)).toBe(0);
    await fixture.lines.keepEntry(
      { matchId, userId: users[13]!, token: (await fixture.lines.pollEntry(matchId, users[13]!))!.queueToken! },
      ['pod-1'],
    );
    await letIn(5);
    await announce(matchId);
    const [items] = await positionEvents(matchId);
    // Fans 11 to 15 have passed position 10, fans 101 to 105 position 100. Fan 14 is connected and is not named.
    expect(items!.map(({ user_id }) => user_id)).toEqual([10, 11, 12, 14, 100, 101, 102, 103, 104].map((index) => users[index]));
    expect(items!.map(({ position }) => position)).toEqual([6, 7, 8, 10, 96, 97, 98, 99, 100]);
    expect(items![0]!.estimated_wait_minutes).toBeGreaterThanOrEqual(1);
  });

  test('is sent at most once a minute, and then names all fans who passed position 10 since the last event', async () => {
    const { matchId, users, letIn } = await line(40);
    await letIn(2);
    expect(await announce(matchId)).toBe(2);
    await letIn(3);
    expect(await announce(matchId)).toBe(0);
    await moveLastEventBack(matchId);
    expect(await Promise.all([announce(matchId), announce(matchId), announce(matchId)])).toEqual([3, 0, 0]);
    expect((await positionEvents(matchId)).flat().map(({ user_id }) => user_id)).toEqual(users.slice(10, 15));
  });

  test('names at most 500 fans, those nearest to the front first', async () => {
    const { matchId, letIn } = await line(1700);
    await letIn(650);
    expect(await announce(matchId)).toBe(500);
    const [items] = await positionEvents(matchId);
    expect(items).toHaveLength(500);
    expect(items!.slice(0, 10).map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  test('is not sent while the queue is paused', async () => {
    const { matchId, letIn } = await line(30);
    await letIn(5);
    await fixture.lines.change(matchId, { status: 'paused' });
    expect(await announce(matchId)).toBe(0);
  });
});

test('the audit stream has each change by operators once; repeated changes and changes of useful_windows are not in it', async () => {
  const matchId = await fixture.match();
  const { lines } = fixture;
  await lines.change(matchId, { status: 'paused', reason: 'floodlights' });
  await lines.change(matchId, { status: 'paused', reason: 'floodlights' });
  await lines.change(matchId, { status: 'active', reason: null });
  await lines.change(matchId, { processing_rate: 120 });
  await lines.change(matchId, { useful_windows: 7 });
  await lines.change(matchId, { max_open_windows: 5 });
  await lines.reportRemaining(matchId, []);
  await lines.reportRemaining(matchId, []);
  await lines.change(matchId, { status: 'closed' });
  await lines.change(matchId, { status: 'active' });
  const entries = await fixture.redis.xrange(queueKeys.audit(matchId), '-', '+');
  const trail = entries.map(([, [, index, , request, , status]]) => {
    expect(Math.abs(Date.parse(index!) - Date.now())).toBeLessThan(10_000);
    return [JSON.parse(request!) as object, status];
  });
  expect(trail).toEqual([
    [{ status: 'active' }, 'active'],
    [{ status: 'paused', reason: 'floodlights' }, 'paused'],
    [{ status: 'active', reason: null }, 'active'],
    [{ processing_rate: 120 }, 'active'],
    [{ max_open_windows: 5 }, 'active'],
    [{ sold_out: true }, 'closed'],
    [{ status: 'closed' }, 'closed'],
    [{ status: 'active' }, 'active'],
  ]);
});
