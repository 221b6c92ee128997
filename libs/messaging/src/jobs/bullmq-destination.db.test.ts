import { createTestRedis, type TestRedis } from '#testing/test-database';
import { Queue } from 'bullmq';
import { newId } from '#platform/ids';
import { closeRedis, connectRedis, whenReady, type RedisConnection } from '#platform/redis/redis-connection';
import { BullmqDestination } from './bullmq-destination.ts';
import type { RelayedMessage } from '../outbox/destination.ts';

let testRedis: TestRedis;
let redis: RedisConnection;
let queue: Queue;
let destination: BullmqDestination;

beforeAll(async () => {
  testRedis = await createTestRedis();
  redis = connectRedis(testRedis.url, { name: 'outbox-test' });
  await whenReady(redis);
  queue = new Queue('email', { connection: redis, prefix: '{notification}', skipVersionCheck: true });
  destination = new BullmqDestination('email', redis);
});

beforeEach(async () => testRedis.flush());

afterAll(async () => {
  await Promise.all([destination.close(), queue.close()]);
  await closeRedis(redis);
  await testRedis.close();
});

function mail(fields: object = {}): RelayedMessage {
  const id = newId();
  const payload = { order_id: 'o', match_name: 'Dinamo – Hajduk', total_amount: '20.00', locale: 'hr' };
  const envelope = { job_id: id, created_at: '2026-11-18T12:00:00Z', attempts: 0, max_attempts: 3, type: 'email' };
  return {
    id,
    event: 'order.refunded',
    body: { ...envelope, template: 'refund', recipient: 'ana@example.hr', payload, ...fields },
  };
}

test('a message becomes a job with the body and the id of the message and three attempts', async () => {
  const message = mail();
  expect(await destination.deliver([message])).toEqual([{ id: message.id, outcome: 'delivered' }]);
  const job = await queue.getJob(message.id);
  expect([job?.name, job?.data, job?.opts.attempts]).toEqual(['refund', message.body, 3]);
});

test('a message that is delivered three times is one job', async () => {
  const message = mail();
  await destination.deliver([message]);
  await destination.deliver([message, message]);
  expect(await queue.getJobCounts('waiting')).toEqual({ waiting: 1 });
});

test('an invalid message can never be delivered (poison), its error names the wrong field without the value, and a valid message beside it is delivered', async () => {
  const [good, bad] = [mail(), mail({ recipient: 'not-an-address' })];
  const [poisoned, other] = await destination.deliver([bad, good]);
  expect(other).toEqual({ id: good.id, outcome: 'delivered' });
  expect(poisoned).toMatchObject({ id: bad.id, outcome: 'poison', error: expect.stringContaining('recipient') as string });
  expect(JSON.stringify(poisoned)).not.toContain('not-an-address');
  expect(await queue.getJobCounts('waiting')).toEqual({ waiting: 1 });
});

test('a batch of 1,000 messages is delivered', async () => {
  const batch = Array.from({ length: 1000 }, () => mail());
  expect((await destination.deliver(batch)).every(({ outcome }) => outcome === 'delivered')).toBe(true);
  expect(await queue.getJobCounts('waiting')).toEqual({ waiting: 1000 });
});

test('when Redis is out of memory `deliver` throws, so that the relay deletes no message', async () => {
  await redis.call('CONFIG', 'SET', 'maxmemory', '1');
  await expect(destination.deliver([mail()])).rejects.toThrow('OOM');
  await redis.call('CONFIG', 'SET', 'maxmemory', '0');
});
