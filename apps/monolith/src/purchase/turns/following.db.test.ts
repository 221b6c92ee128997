import { QUEUE_EVENTS_CHANNEL } from '#contracts/integration-events';
import { queueKeys } from '#contracts/queue-keys';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { SchedulerRegistry } from '@nestjs/schedule';
import { randomUUID } from 'node:crypto';
import { openMonolith, putOnSale, type MatchOnSale, type WholeMonolith } from '../../testing/whole-monolith.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../testing/box-office.ts';
import { FollowWaitingRoom } from './application/follow-waiting-room.ts';
import { QueueEventsListener } from './inbound/queue-events.listener.ts';

let opened: OpenBoxOffice;
let office: BoxOffice;
let replicas: WholeMonolith[];
let match: MatchOnSale;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  replicas = [office.monolith, await openMonolith(opened.settings), await openMonolith(opened.settings)];
});
afterAll(async () => {
  await Promise.all(replicas.slice(1).map((replica) => replica.close()));
  await opened.close();
});
beforeEach(async () => {
  match = await putOnSale(office.monolith, { queue_required: true });
});

const redis = () => office.monolith.resources.redis;
const write = (event: unknown, matchId = match.id) =>
  redis().xadd(queueKeys.events(matchId), '*', 'event', typeof event === 'string' ? event : JSON.stringify(event));
const follow = (replica = office.monolith, matchId = match.id) => replica.get(FollowWaitingRoom).execute(matchId);
const granted = (user_id: string, change: Record<string, unknown> = {}) => ({
  event: 'queue.turn_granted',
  user_id,
  match_id: match.id,
  session_token: `st_${user_id}`,
  expires_at: new Date(Date.now() + 1_200_000).toISOString(),
  ...change,
});
const windowsOf = (matchId = match.id) =>
  office.rows<{ user_id: string; end_reason: string | null }>(
    `select user_id, end_reason from purchase_windows where match_id = $1 order by created_at, user_id`,
    [matchId],
  );
const pushes = (userId: string) =>
  office.rows<{ destination: string; template: string; until: string | null }>(
    `select destination, body ->> 'template' as template, body ->> 'useful_until' as until from outbox where body ->> 'user_id' = $1 order by seq`,
    [userId],
  );
const fanWithPhone = async (userId = randomUUID()) => {
  await office.monolith.call('PUT', '/api/v1/me/devices/phone', { as: userId, body: { fcm_token: `token-${userId}` } });
  return userId;
};

test('three replicas that read one stream at the same time apply each event once', async () => {
  const fans = await Promise.all(Array.from({ length: 40 }, () => fanWithPhone()));
  for (const fan of fans) await write(granted(fan));
  const applied = await Promise.all(Array.from({ length: 4 }, () => replicas.map((replica) => follow(replica))).flat());
  expect(applied.reduce((sum, n) => sum + n, 0)).toBe(40);
  expect((await windowsOf()).map(({ user_id }) => user_id).sort()).toEqual([...fans].sort());
  for (const fan of fans)
    expect(await pushes(fan)).toEqual([{ destination: 'push-priority', template: 'queue_your_turn', until: expect.any(String) }]);
  expect(await follow()).toBe(0);
});

test('events that arrive while replicas read are all applied, each once', async () => {
  const fans = await Promise.all(Array.from({ length: 60 }, () => fanWithPhone()));
  const counts: number[] = [];
  const writing = (async () => {
    for (const fan of fans) await write(granted(fan));
  })();
  const reading = replicas.map(async (replica) => {
    for (let read = 0; read < 15; read += 1) counts.push(await follow(replica));
  });
  await Promise.all([writing, ...reading]);
  counts.push(await follow());
  expect(counts.reduce((sum, n) => sum + n, 0)).toBe(60);
  for (const fan of fans) expect(await pushes(fan)).toHaveLength(1);
});

test('turns open and end in the order of the events, and the event that ends a turn ends only the turn with its session token', async () => {
  const fan = randomUUID();
  await write(granted(fan, { session_token: 'st_first-turn' }));
  await write({
    event: 'queue.expired',
    user_id: fan,
    match_id: match.id,
    reason: 'window_timeout',
    session_token: 'st_first-turn',
  });
  await write(granted(fan, { session_token: 'st_second-turn' }));
  expect(await follow()).toBe(3);
  expect((await office.hold(match, { as: fan, turn: 'st_first-turn' })).json.code).toBe('PURCHASE_WINDOW_EXPIRED');
  expect((await office.hold(match, { as: fan, turn: 'st_second-turn' })).status).toBe(201);
  await write({
    event: 'queue.expired',
    user_id: fan,
    match_id: match.id,
    reason: 'window_timeout',
    session_token: 'st_first-turn',
  });
  await follow();
  expect((await office.hold(match, { as: fan, turn: 'st_second-turn' })).status).toBe(201);
});

test('a turn that ends keeps its holds, and they can still be paid', async () => {
  const fan = randomUUID();
  await write(granted(fan));
  await follow();
  const held = await office.held(match, { as: fan, turn: `st_${fan}` });
  await write({ event: 'queue.expired', user_id: fan, match_id: match.id, reason: 'left', session_token: `st_${fan}` });
  await follow();
  expect((await office.hold(match, { as: fan, turn: `st_${fan}` })).json.code).toBe('PURCHASE_WINDOW_REQUIRED');
  expect(await office.settle(office.report(await office.ordered(held)))).toBe('completed');
});

test('fans with a device get pushes at the front of the line and about their position; fans without a device get none', async () => {
  const [atFront, inLine, withoutDevice] = [await fanWithPhone(), await fanWithPhone(), randomUUID()];
  await write({ event: 'queue.front_reached', user_id: atFront, match_id: match.id });
  const items = [inLine, withoutDevice].map((user_id) => ({ user_id, position: 100, estimated_wait_minutes: 3 }));
  await write({ event: 'queue.position_update', match_id: match.id, items });
  await follow();
  const [frontPushes, positionPushes] = [await pushes(atFront), await pushes(inLine)];
  expect(frontPushes).toEqual([{ destination: 'push-priority', template: 'queue_front', until: expect.any(String) }]);
  expect(positionPushes).toEqual([{ destination: 'push', template: 'queue_position', until: expect.any(String) }]);
  // The push "You are at the front" is useful for 30 minutes, because an absent fan stays at the front that long. A push about a
  // position is useful for 10 minutes.
  const minutesLeft = (until: unknown): number => Math.round((Date.parse(String(until)) - Date.now()) / 60_000);
  expect([minutesLeft(frontPushes[0]?.until), minutesLeft(positionPushes[0]?.until)]).toEqual([30, 10]);
  expect(await pushes(withoutDevice)).toEqual([]);
});

test.each([
  ['not JSON', '{"event":'],
  ['an unknown event', '{"event":"queue.dissolved","match_id":"x"}'],
  [
    'a granted turn without an expiry time',
    JSON.stringify({ event: 'queue.turn_granted', user_id: randomUUID(), match_id: randomUUID(), session_token: 'st_x' }),
  ],
  ['empty', ''],
])('a stream entry that is %s is skipped, and the later entries are applied', async (_, entry) => {
  const fan = randomUUID();
  await write(entry);
  await redis().xadd(queueKeys.events(match.id), '*', 'something', 'else');
  await write(granted(fan));
  expect(await follow()).toBe(1);
  expect(await windowsOf()).toEqual([{ user_id: fan, end_reason: null }]);
  expect(await follow()).toBe(0);
});

test('more events than fit into one batch are all applied', async () => {
  const users = Array.from({ length: 1100 }, () => randomUUID());
  const pipeline = redis().pipeline();
  for (const user of users) pipeline.xadd(queueKeys.events(match.id), '*', 'event', JSON.stringify(granted(user)));
  await pipeline.exec();
  expect(await follow()).toBe(1100);
  expect(await windowsOf()).toHaveLength(1100);
});

test('after Redis has lost all data, new events are applied, and effects of earlier events are not repeated', async () => {
  const [before, after] = [await fanWithPhone(), await fanWithPhone()];
  await write(granted(before));
  await follow();
  await redis().flushdb();
  await write(granted(after));
  expect(await follow()).toBe(1);
  expect((await windowsOf()).map(({ user_id }) => user_id).sort()).toEqual([before, after].sort());
  expect(await pushes(before)).toHaveLength(1);
});

describe('QueueEventsListener', () => {
  let listener: QueueEventsListener;
  let tasks: PeriodicTasks;
  beforeEach(async () => {
    await redis().flushdb();
    const { config, resources } = office.monolith;
    tasks = new PeriodicTasks(new SchedulerRegistry(), resources.logger, true);
    listener = new QueueEventsListener(office.monolith.get(FollowWaitingRoom), config, resources.logger, tasks);
    listener.onApplicationBootstrap();
    tasks.onApplicationBootstrap();
  });
  afterEach(async () => {
    await tasks.stop();
    await listener.onApplicationShutdown();
  });

  const until = async (condition: () => Promise<boolean>, timeoutMs: number) => {
    const giveUpAt = Date.now() + timeoutMs;
    while (!(await condition())) {
      if (Date.now() > giveUpAt) return false;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return true;
  };
  const windowsAreStored =
    (count: number, matchId = match.id) =>
    async () =>
      (await windowsOf(matchId)).length === count;

  test('the listener reads the stream at once after a message on queue_events', async () => {
    await until(async () => ((await redis().pubsub('NUMSUB', QUEUE_EVENTS_CHANNEL)) as [string, number])[1] > 0, 2000);
    await write(granted(randomUUID()));
    await redis().publish(QUEUE_EVENTS_CHANNEL, JSON.stringify(granted(randomUUID())));
    expect(await until(windowsAreStored(1), 1500)).toBe(true);
  });

  test('the listener applies an event within a few seconds although its message was lost', async () => {
    await redis().sadd(queueKeys.matches, match.id);
    await write(granted(randomUUID()));
    expect(await until(windowsAreStored(1), 6000)).toBe(true);
  });

  test('the listener reads the other matches when the stream of one match cannot be read', async () => {
    const broken = randomUUID();
    const other = await putOnSale(office.monolith, { queue_required: true });
    await redis().set(queueKeys.events(broken), 'no stream');
    await redis().sadd(queueKeys.matches, broken, match.id, other.id);
    await write(granted(randomUUID()));
    await write(granted(randomUUID(), { match_id: other.id }), other.id);
    expect(await until(async () => (await windowsAreStored(1)()) && (await windowsAreStored(1, other.id)()), 8000)).toBe(true);
  });
});
