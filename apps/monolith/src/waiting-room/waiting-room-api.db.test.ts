import { developmentSecrets } from '#platform/config/settings';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { openMonolith, putOnSale, seated, type WholeMonolith } from '../testing/whole-monolith.ts';
import { QueueKeeper } from './queue-keeper.schedule.ts';
import { FakeQueueService } from './testing/fake-queue-service.ts';
import { WaitingRoomApi } from './waiting-room.api.ts';
import { WaitingRoomDestinations } from './waiting-room.module.ts';

let database: TestDatabase;
let redis: TestRedis;
let queue: FakeQueueService;
let replicas: WholeMonolith[];

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
beforeEach(() => {
  queue.behaviour = 'normal';
});

const [A, B] = ['0190a000-0000-7000-8000-0000000000a1', '0190a000-0000-7000-8000-0000000000b1'];
const waitingRoom = (replica = 0) => {
  const monolith = replicas[replica];
  if (!monolith) throw new Error('no such replica');
  return monolith.get(WaitingRoomApi);
};
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('withQueueLock', () => {
  test('runs one change of a queue at a time over all replicas, and different queues do not wait for each other', async () => {
    const running: Record<string, number> = { [A]: 0, [B]: 0 };
    let maxPerQueue = 0;
    let maxTotal = 0;
    const change = (replica: number, matchId: string) =>
      waitingRoom(replica).withQueueLock(matchId, async () => {
        running[matchId] = (running[matchId] ?? 0) + 1;
        maxPerQueue = Math.max(maxPerQueue, running[matchId]);
        maxTotal = Math.max(maxTotal, (running[A] ?? 0) + (running[B] ?? 0));
        await sleep(10);
        running[matchId] -= 1;
      });
    await Promise.all(Array.from({ length: 24 }, (_, index) => change(index % 2, index % 3 === 0 ? B : A)));
    expect([maxPerQueue, maxTotal]).toEqual([1, 2]);
  });

  test('releases the lock after work that fails', async () => {
    await expect(waitingRoom().withQueueLock(A, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await waitingRoom(1).withQueueLock(A, () => Promise.resolve('yes'))).toBe('yes');
  });

  test('releases the lock at once when its connection is lost', async () => {
    const result = waitingRoom().withQueueLock(A, async () => {
      await replicas[1]?.dataSource.query(
        `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted and pid <> pg_backend_pid()
         and database = (select oid from pg_database where datname = current_database())`,
      );
      return 'done';
    });
    expect(await result).toBe('done');
    expect(await waitingRoom(1).withQueueLock(A, () => Promise.resolve('next'))).toBe('next');
  });

  test('called sixty times at once leaves database connections for reads', async () => {
    const changes = Array.from({ length: 60 }, (_, index) =>
      waitingRoom().withQueueLock(`0190a000-0000-7000-8000-${String(index).padStart(12, '0')}`, async () => {
        await replicas[0]?.dataSource.query('select pg_sleep(0.01)');
      }),
    );
    const reads = await Promise.all(Array.from({ length: 30 }, async () => replicas[0]?.dataSource.query('select 1 as one')));
    expect(reads).toHaveLength(30);
    await Promise.all(changes);
  });
});

describe('the outbox destination of the waiting room', () => {
  const destination = () => replicas[0]?.get(WaitingRoomDestinations).all[0];
  const id = '0190a000-0000-7000-8000-0000000000c1';

  test('sends for a message of the kind `sync` the state that the match has at delivery, not when the message was written', async () => {
    const [monolith] = replicas;
    if (!monolith) throw new Error('no replica');
    const match = await putOnSale(monolith, { queue_required: true, processing_rate: 60 });
    await monolith.dataSource.query(`update matches set sale_status = 'paused', pause_reason = 'Rain' where id = $1`, [match.id]);
    expect(await destination()?.deliver([{ id, event: 'match.created', body: { kind: 'sync', match_id: match.id } }])).toEqual([
      { id, outcome: 'delivered' },
    ]);
    expect(queue.lastControl(match.id)).toMatchObject({
      status: 'paused',
      reason: 'Rain',
      processing_rate: 60,
      max_open_windows: 1000,
    });
  });

  test('ends a turn after its purchase, by its session token', async () => {
    const body = { kind: 'complete', match_id: A, user_id: B, session_token: 'st_used' };
    await destination()?.deliver([{ id, event: 'order.completed', body }]);
    expect(queue.completed).toContain(`${A} st_used`);
  });

  test.each([
    ['the sale is still open', 'open', { status: 'active', useful_windows: 0 }, ['control', 'windows']],
    // The message with the new state is in the outbox, perhaps behind the message that ends the turn.
    ['the sale has just become sold_out', 'sold_out', { useful_windows: 0 }, ['control', 'windows']],
  ])('before it ends the turn of the last seat, it sends zero useful windows: %s', async (_, saleStatus, control, calls) => {
    const [monolith] = replicas;
    if (!monolith) throw new Error('no replica');
    const match = await putOnSale(monolith, { queue_required: true, sectors: [seated('East A', 1, 1)] });
    await monolith.dataSource.query(`update seats set status = 'blocked' where match_id = $1`, [match.id]);
    await monolith.dataSource.query(`update matches set sale_status = $2 where id = $1`, [match.id, saleStatus]);
    const body = { kind: 'complete', match_id: match.id, user_id: B, session_token: 'st_last' };
    await destination()?.deliver([{ id, event: 'order.completed', body }]);
    expect(queue.lastControl(match.id)).toMatchObject(control);
    const order = queue.calls.filter((call) => call.includes(match.id)).map((call) => call.split(' ')[0]);
    expect(order).toEqual(calls);
    queue.behaviour = 'refusing';
    expect(await destination()?.deliver([{ id, event: 'order.completed', body }])).toMatchObject([{ outcome: 'later' }]);
  });

  test.each(['down', 'refusing'] as const)('keeps a message for later while the waiting room is %s', async (behaviour) => {
    queue.behaviour = behaviour;
    const deliveries = await destination()?.deliver([
      { id, event: 'order.completed', body: { kind: 'complete', match_id: A, user_id: B, session_token: 'st_x' } },
    ]);
    expect(deliveries).toEqual([{ id, outcome: 'later', error: expect.any(String) }]);
  });

  test('delivers fifty messages of the kind `sync` in one batch', async () => {
    const [monolith] = replicas;
    if (!monolith) throw new Error('no replica');
    const matches = [];
    for (let index = 0; index < 50; index += 1) matches.push(await putOnSale(monolith, { queue_required: true }));
    const messages = matches.map((match) => ({
      id: match.id,
      event: 'match.created',
      body: { kind: 'sync', match_id: match.id },
    }));
    const deliveries = await destination()?.deliver(messages);
    expect(new Set(deliveries?.map(({ outcome }) => outcome))).toEqual(new Set(['delivered']));
    expect(matches.every((match) => queue.lastControl(match.id)?.status === 'active')).toBe(true);
  });
});

test('the queue keeper sends every queue that is not closed to a waiting room that lost its state', async () => {
  const [monolith] = replicas;
  if (!monolith) throw new Error('no replica');
  const open = await putOnSale(monolith, { queue_required: true });
  const closed = await putOnSale(monolith, { queue_required: true });
  await monolith.dataSource.query(`update matches set sale_status = 'closed' where id = $1`, [closed.id]);
  queue.forgetQueues();
  expect(await monolith.get(QueueKeeper).runOnce()).toBeGreaterThan(0);
  expect([queue.lastControl(open.id)?.status, queue.lastControl(closed.id)]).toEqual(['active', undefined]);
  expect(await monolith.get(QueueKeeper).runOnce()).toBe(0);
  queue.behaviour = 'down';
  queue.forgetQueues();
  expect(await monolith.get(QueueKeeper).runOnce()).toBe(0);
});
