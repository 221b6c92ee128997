import { QUEUE_EVENTS_CHANNEL } from '#contracts/integration-events';
import { queueKeys } from '#contracts/queue-keys';
import { developmentSecrets } from '#platform/config/settings';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { StoredTurns } from '../purchase/stored-turns.api.ts';
import { FollowWaitingRoom } from '../purchase/turns/application/follow-waiting-room.ts';
import { newKey } from '../testing/test-app.ts';
import { grantTurn, openMonolith, ops, putOnSale, type MatchOnSale, type WholeMonolith } from '../testing/whole-monolith.ts';
import { StateNeededListener } from './state-needed.listener.ts';
import { FakeQueueService } from './testing/fake-queue-service.ts';
import { WaitingRoomDestinations } from './waiting-room.module.ts';

let database: TestDatabase;
let redis: TestRedis;
let queue: FakeQueueService;
let replicas: WholeMonolith[];
let match: MatchOnSale;

beforeAll(async () => {
  queue = new FakeQueueService(developmentSecrets.INTERNAL_AUTH_SECRET);
  [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  const settings = { DATABASE_URL: database.url, REDIS_URL: redis.url, QUEUE_INTERNAL_URL: await queue.open() };
  replicas = [await openMonolith(settings), await openMonolith(settings)];
});
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.close()));
  await Promise.all([queue.close(), database.close(), redis.close()]);
});
beforeEach(async () => {
  queue.behaviour = 'normal';
  queue.loseState();
  match = await putOnSale(monolith(), { queue_required: true });
});

const monolith = (): WholeMonolith => replicas[0]!;
const restore = (matchId = match.id, replica = monolith()) => replica.get(StateNeededListener).restore(matchId);
const partsOf = (matchId = match.id) => queue.restored.get(matchId) ?? [];
const rows = <T = unknown>(sql: string, parameters: unknown[] = []) => monolith().dataSource.query<T[]>(sql, parameters);
const end = (token: string, reason: string) =>
  rows(`update purchase_windows set ended_at = now(), end_reason = $2 where session_token = $1`, [token, reason]);

describe('the restored state of a match', () => {
  test('contains the sale, its useful windows, all open turns unchanged, and the fans who have had a turn', async () => {
    const [open, bought, left, expired] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()] as const;
    const token = await grantTurn(monolith(), match.id, open);
    await rows(`update purchase_windows set place_score = 1700000000000001 where session_token = $1`, [token]);
    await end(await grantTurn(monolith(), match.id, bought), 'completed');
    await end(await grantTurn(monolith(), match.id, left), 'left');
    // This turn has expired, but no event about its end has arrived.
    await grantTurn(monolith(), match.id, expired, -5);
    await grantTurn(monolith(), randomUUID(), randomUUID());
    expect(await restore()).toBe(true);
    const parts = partsOf();
    expect(parts.map(({ generation, part, complete }) => [generation, part, complete ?? false])).toEqual([
      [1, 0, false],
      [1, 1, false],
      [1, 2, false],
      [1, 3, true],
    ]);
    expect(parts[0]).toMatchObject({
      sale: { status: 'active', processing_rate: 600, max_open_windows: 1000, useful_windows: 50 },
      counts: { granted: 4, completed: 1, expired: 1 },
    });
    const [row] = await rows<{ at: Date }>(`select expires_at as at from purchase_windows where session_token = $1`, [token]);
    expect(parts[1]?.windows).toEqual([
      { user_id: open, session_token: token, expires_at: row?.at.toISOString(), place_score: 1_700_000_000_000_001 },
    ]);
    const used = new Map(parts[2]?.used);
    expect([...used.keys()].sort()).toEqual([open, bought, left, expired].sort());
    // A turn without a stored score (join time in µs) gets the time at which the turn was stored.
    expect(Math.abs(used.get(bought)! / 1000 - Date.now())).toBeLessThan(60_000);
  });

  test('is sent once although two replicas are asked twice at once, and again only after another loss of Redis', async () => {
    const answers = await Promise.all(replicas.flatMap((replica) => [restore(match.id, replica), restore(match.id, replica)]));
    expect(answers.filter((isRestored) => isRestored)).toHaveLength(1);
    expect(partsOf().filter(({ complete }) => complete)).toHaveLength(1);
    queue.loseState();
    expect(await restore()).toBe(true);
    expect(partsOf().at(-1)).toMatchObject({ generation: 2, complete: true });
  });

  test('with 1,200 open and 4,500 used turns is sent in parts of less than 256 KB', async () => {
    await rows(
      `insert into purchase_windows (session_token, match_id, user_id, expires_at, ended_at, end_reason)
       select 'st_' || gen_random_uuid(), $1, gen_random_uuid(), now() + interval '20 minutes',
              case when n > 1200 then now() end, case when n > 1200 then 'left' end from generate_series(1, 4500) as n`,
      [match.id],
    );
    await restore();
    expect(partsOf().map(({ windows, used }) => [windows?.length ?? 0, used?.length ?? 0])).toEqual([
      [0, 0],
      [1000, 0],
      [200, 0],
      [0, 4000],
      [0, 500],
      [0, 0],
    ]);
    const sizes = partsOf().map((part) => Buffer.byteLength(JSON.stringify(part)));
    expect(Math.max(...sizes)).toBeLessThan(256 * 1024);
  });

  test('of a sold-out sale is closed and keeps its open turns; of a closed sale it is closed without turns', async () => {
    await grantTurn(monolith(), match.id, randomUUID());
    await rows(`update matches set sale_status = 'sold_out' where id = $1`, [match.id]);
    await restore();
    expect(partsOf()[0]?.sale).toMatchObject({ status: 'closed', closed_reason: 'sold_out', useful_windows: 0 });
    expect(partsOf().flatMap(({ windows = [] }) => windows)).toHaveLength(1);
    queue.loseState();
    await rows(`update matches set sale_status = 'closed' where id = $1`, [match.id]);
    await restore();
    expect(partsOf()[0]?.sale).toMatchObject({ status: 'closed' });
    expect(partsOf()[0]?.sale).not.toHaveProperty('closed_reason');
    expect(partsOf().flatMap(({ windows = [] }) => windows)).toHaveLength(0);
    const open = await rows(`select 1 from purchase_windows where match_id = $1 and ended_at is null`, [match.id]);
    expect(open).toHaveLength(0);
  });

  test('of an unknown match, or of a match without a queue, is only `exists: false`', async () => {
    const withoutQueue = await putOnSale(monolith());
    const unknownId = randomUUID();
    expect([await restore(unknownId), await restore(withoutQueue.id)]).toEqual([false, false]);
    expect([partsOf(unknownId), partsOf(withoutQueue.id)]).toEqual([[{ exists: false }], [{ exists: false }]]);
  });
});

describe('a waiting room that does not know a match', () => {
  test('gets the match’s state with the operator’s first call that opens its sale', async () => {
    const later = await putOnSale(monolith(), { queue_required: true, opens_at: null });
    const opened = await monolith().call('POST', `/api/v1/ops/matches/${later.id}/sale`, {
      ...ops,
      body: { action: 'open' },
      key: newKey(),
    });
    expect([opened.status, queue.hasState(later.id)]).toEqual([200, true]);
    expect(partsOf(later.id)[0]?.sale).toMatchObject({ status: 'active', useful_windows: 50 });
    expect(queue.controls.get(later.id)?.every(({ useful_windows: useful }) => useful === 50)).toBe(true);
  });

  test('does not accept the completion of a turn: the outbox message waits until the state is restored', async () => {
    const [id, user] = [randomUUID(), randomUUID()];
    const body = { kind: 'complete', match_id: match.id, user_id: user, session_token: 'st_used' };
    const deliver = () =>
      monolith()
        .get(WaitingRoomDestinations)
        .all[0]!.deliver([{ id, event: 'order.completed', body }]);
    // With more than 1,000 free seats the destination does not send the useful windows before the completion. Sending them would
    // restore the state.
    await rows(
      `insert into seats (id, match_id, sector_id, row_index, rank)
                select gen_random_uuid(), $1, gen_random_uuid(), 0, n from generate_series(1, 1200) as n`,
      [match.id],
    );
    expect(await deliver()).toEqual([{ id, outcome: 'later', error: expect.any(String) }]);
    expect(queue.completed).not.toContain(`${match.id} st_used`);
    await restore();
    expect(await deliver()).toEqual([{ id, outcome: 'delivered' }]);
    expect(queue.completed).toContain(`${match.id} st_used`);
  });

  test('gets the state of 41 matches when it asks for all of them at once; if a call fails, it asks again', async () => {
    const listener = monolith().get(StateNeededListener);
    Object.assign(listener, { tasks: { isEnabled: true } });
    listener.onApplicationBootstrap();
    await pause(100);
    const ask = (matchId: string) =>
      replicas[1]!.resources.redis.publish(
        QUEUE_EVENTS_CHANNEL,
        JSON.stringify({ event: 'queue.state_needed', match_id: matchId }),
      );
    queue.behaviour = 'down';
    await ask(match.id);
    await pause(200);
    queue.behaviour = 'normal';
    const unknownIds = Array.from({ length: 40 }, () => randomUUID());
    const isDone = () => queue.hasState(match.id) && unknownIds.every((id) => queue.hasState(id));
    await replicas[1]!.resources.redis.publish(QUEUE_EVENTS_CHANNEL, 'not JSON, but queue.state_needed');
    for (let asked = 0; asked < 20 && !isDone(); asked += 1) {
      for (const matchId of [...unknownIds, match.id]) if (!queue.hasState(matchId)) await ask(matchId);
      await pause(200);
    }
    expect(isDone()).toBe(true);
  });
});

describe('a turn that Redis lost before it was stored in PostgreSQL', () => {
  const user = randomUUID();
  const redisOf = () => monolith().resources.redis;
  const turn = (facts: object = {}) => ({
    expires_at: new Date(Date.now() + 1_200_000).toISOString(),
    session_token: `st_${randomUUID()}`,
    generation: 1,
    place_score: 1_700_000_000_000_002,
    ...facts,
  });
  /** Appends the event of a granted turn to the stream of the match. */
  const appendGranted = (granted: ReturnType<typeof turn>) =>
    redisOf().xadd(
      queueKeys.events(match.id),
      '*',
      'event',
      JSON.stringify({ event: 'queue.turn_granted', user_id: user, match_id: match.id, ...granted }),
    );
  const follow = () => monolith().get(FollowWaitingRoom).execute(match.id);
  const storedTokens = async () =>
    (await rows<{ token: string }>(`select session_token as token from purchase_windows where match_id = $1`, [match.id])).map(
      ({ token }) => token,
    );
  const holdWith = (token: string) =>
    monolith().call('POST', `/api/v1/matches/${match.id}/reservations`, {
      as: user,
      headers: { 'x-purchase-session': token },
      body: { sector_id: match.sectors[0]?.id, quantity: 1 },
      key: newKey(),
    });

  test('is void: if the event about it is read after the restore, the turn is not stored and no push is sent', async () => {
    await monolith().call('PUT', '/api/v1/me/devices/phone', { as: user, body: { fcm_token: `token-${user}` } });
    const [lost, kept] = [turn(), turn({ generation: 2 })];
    await restore();
    queue.loseState();
    await restore();
    await appendGranted(lost);
    await appendGranted(kept);
    await follow();
    expect(await storedTokens()).toEqual([kept.session_token]);
    const pushes = await rows(`select 1 from outbox where body ->> 'user_id' = $1 and body ->> 'template' = 'queue_your_turn'`, [
      user,
    ]);
    expect(pushes).toHaveLength(1);
    const [row] = await rows(`select place_score from purchase_windows where match_id = $1`, [match.id]);
    expect(row).toEqual({ place_score: '1700000000000002' });
  });

  test('is void: a hold with its session token is refused, even if Redis has the turn again', async () => {
    const [lost, kept] = [turn(), turn({ generation: 2 })];
    await restore();
    queue.loseState();
    await restore();
    await redisOf().hset(queueKeys.windows(match.id), user, JSON.stringify(lost));
    const refused = await holdWith(lost.session_token);
    expect([refused.status, refused.json.code]).toEqual([403, 'PURCHASE_WINDOW_REQUIRED']);
    await redisOf().hset(queueKeys.windows(match.id), user, JSON.stringify(kept));
    expect((await holdWith(kept.session_token)).status).toBe(201);
  });

  test('negative control: if the event has no generation (number of the match’s state in Redis), the turn is stored', async () => {
    const withoutGeneration = turn({ generation: undefined });
    await restore();
    await appendGranted(withoutGeneration);
    await follow();
    expect(await storedTokens()).toEqual([withoutGeneration.session_token]);
  });

  test('is not void if it is being stored when the restore begins: the restore waits and then includes the turn', async () => {
    await restore();
    const runner = monolith().dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query(`select generation from queue_generations where match_id = $1 for share`, [match.id]);
    let generation: number | undefined;
    const nextGeneration = monolith()
      .get(StoredTurns)
      .nextGeneration(match.id)
      .then((next) => (generation = next));
    await pause(300);
    expect(generation).toBeUndefined();
    await runner.query(
      `insert into purchase_windows (session_token, match_id, user_id, expires_at) values ('st_late', $1, $2, now() + interval '1 minute')`,
      [match.id, user],
    );
    await runner.commitTransaction();
    await runner.release();
    expect(await nextGeneration).toBe(2);
    expect((await monolith().get(StoredTurns).open(match.id)).map(({ sessionToken }) => sessionToken)).toEqual(['st_late']);
  });
});
