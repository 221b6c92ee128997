import { broadcastBundle, JOBS_PREFIX, type BroadcastJob } from '#contracts/queue-jobs';
import { newId } from '#platform/ids';
import { BullmqDestination } from '#messaging/jobs/bullmq-destination';
import { notificationJobOptions } from '#messaging/jobs/job-policy';
import { createLogger } from '#platform/logging/logger';
import { OutboxRelay } from '#messaging/outbox/outbox-relay';
import { UnlimitedProvider } from '#messaging/sending/provider-limiter';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { DeviceResult, OutgoingPush } from './push/application/ports.ts';
import { PushProvider } from './push/application/ports.ts';
import { bareWorker, type BareWorker } from './testing/bare-worker.ts';
import { rangePushes } from './testing/jobs.ts';
import { eventually } from './testing/running-worker.ts';

const RANGES = 20;
const DEVICES = 200;

let testDatabase: TestDatabase;
let testRedis: TestRedis;
let connection: Redis;
let queue: Queue;
let workers: BareWorker[];
let provider: RecordingProvider;

/** A push provider that records the device tokens it gets. A test can delay its answers with `delay`. */
class RecordingProvider extends PushProvider {
  readonly arrived: string[] = [];
  delay = Promise.resolve();
  async send({ tokens }: OutgoingPush): Promise<readonly DeviceResult[]> {
    await this.delay;
    this.arrived.push(...tokens);
    return tokens.map(() => ({ kind: 'sent' }) as const);
  }
}

beforeAll(async () => {
  [testDatabase, testRedis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  connection = new Redis(testRedis.url, { maxRetriesPerRequest: null });
  queue = new Queue('push', { connection, prefix: JOBS_PREFIX });
});

beforeEach(async () => {
  await testRedis.flush();
  workers = [];
  provider = new RecordingProvider();
});

afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.close()));
});

afterAll(async () => {
  await queue.close();
  await connection.quit();
  await Promise.all([testDatabase.close(), testRedis.close()]);
});

async function openWorker(): Promise<BareWorker> {
  const worker = await bareWorker({
    databaseUrl: testDatabase.url,
    redisUrl: testRedis.url,
    pushes: provider,
    limiter: () => new UnlimitedProvider(),
    retrySeconds: [0, 0],
  });
  workers.push(worker);
  return worker;
}

/** Stores a broadcast to 200 devices in 20 ranges as the monolith does, and runs the relay once. */
async function broadcast({ database }: BareWorker, changes: Partial<BroadcastJob> = {}): Promise<BroadcastJob[]> {
  const id = newId();
  await database.query('truncate outbox, queued_jobs, push_progress, broadcasts, broadcast_devices');
  await database.query(`insert into broadcasts (id, template, devices) values ($1, 'match_changed', $2)`, [id, DEVICES]);
  await database.query(`insert into broadcast_devices select $1, n, 'device-' || n from generate_series(0, $2 - 1) n`, [
    id,
    DEVICES,
  ]);
  const jobs = rangePushes(id, { count: RANGES, size: DEVICES / RANGES, created_at: '2026-11-18T12:00:00.000Z', ...changes });
  await database.query(
    `insert into outbox (id, destination, event, series, body)
     select (body ->> 'job_id')::uuid, 'push', 'match.changed', $2, body from jsonb_array_elements($1::jsonb) body`,
    [JSON.stringify(jobs), id],
  );
  const destination = new BullmqDestination('push', connection);
  await new OutboxRelay(database, destination, createLogger({ service: 'test', level: 'silent' })).runOnce();
  await destination.close();
  return jobs;
}

const allDevicesReached = (): Promise<true> =>
  eventually(() => Promise.resolve(new Set(provider.arrived).size === DEVICES)).then(() => true);
const queueIsEmpty = (): Promise<true> =>
  eventually(async () => (await queue.getJobCountByTypes('waiting', 'active', 'delayed')) === 0).then(() => true);
const jobCopies = async ({ database }: BareWorker): Promise<number> =>
  (await database.query<{ count: number }[]>('select count(*)::int as count from queued_jobs'))[0]?.count ?? -1;
const queueSize = async ({ registry }: BareWorker): Promise<number | undefined> =>
  (await registry.getMetricsAsJSON()).find(({ name }) => name === 'notification_push_queue_size')?.values[0]?.value;
const queuedJobsOf = (jobs: readonly BroadcastJob[]) => Promise.all(jobs.map(({ job_id }) => queue.getJob(job_id)));

test('a broadcast of 20 jobs waits in the queue as one bundle, and the queue size counts 20; a worker adds the 20 jobs to the queue, and each device is reached once', async () => {
  const worker = await openWorker();
  const jobs = await broadcast(worker);
  expect([await queue.getJobCountByTypes('waiting'), await queueSize(worker)]).toEqual([1, RANGES]);
  worker.start();
  await allDevicesReached();
  await queueIsEmpty();
  expect(provider.arrived).toHaveLength(DEVICES);
  const done = await queuedJobsOf(jobs);
  expect(done.map((job) => job?.returnvalue as unknown)).toEqual(jobs.map(() => 'sent'));
  // The timestamp of each job is the time at which its message was created. So its age includes the wait inside the bundle.
  expect(new Set(done.map((job) => job?.timestamp))).toEqual(new Set([Date.parse('2026-11-18T12:00:00Z')]));
  await eventually(async () => (await jobCopies(worker)) === 0);
  expect(await queueSize(worker)).toBe(0);
});

test.each([
  ['with the same job ids, reaches no device twice', false, DEVICES],
  // Negative control: jobs with new ids are not recognised as done.
  ['with other job ids, reaches all devices twice', true, 2 * DEVICES],
])('a bundle that is delivered twice, %s', async (_name, otherIds, arrived) => {
  const worker = await openWorker();
  await broadcast(worker);
  const [bundle] = await queue.getJobs(['waiting']);
  const data = bundle?.data as { ranges: string };
  worker.start();
  await allDevicesReached();
  await queueIsEmpty();
  // After this flush Redis no longer knows the jobs of the first delivery.
  await testRedis.flush();
  const again = (JSON.parse(data.ranges) as [string, unknown][]).map(([id, range]) => [otherIds ? newId() : id, range]);
  const id = newId();
  await queue.add('match_changed', { ...data, job_id: id, ranges: JSON.stringify(again) }, notificationJobOptions(id));
  await eventually(async () => (await queue.getCompletedCount()) === RANGES + 1);
  expect(provider.arrived).toHaveLength(arrived);
});

test('after a worker died with a bundle half unpacked, the next worker unpacks the rest, and each device is reached once', async () => {
  const nextWorker = await openWorker();
  const jobs = await broadcast(nextWorker);
  // The dying worker has taken the bundle, stored the copies of its 20 jobs, and added seven of them to the queue. Its lock
  // expires in 50 ms.
  const dying = new Worker('push', undefined, { connection, prefix: JOBS_PREFIX, autorun: false, lockDuration: 50 });
  const taken = await dying.getNextJob('dying');
  expect(taken?.data).toHaveProperty('ranges');
  await nextWorker.jobs.unpack('push', broadcastBundle.parse(taken?.data));
  for (const job of await queuedJobsOf(jobs.slice(7))) await job?.remove();
  await dying.close(true);
  nextWorker.start();
  await eventually(() => Promise.resolve(new Set(provider.arrived).size === 70));
  await eventually(() => Promise.resolve(new Set(provider.arrived).size === DEVICES), 25_000);
  await queueIsEmpty();
  expect([provider.arrived.length, nextWorker.possibleDuplicates()]).toEqual([DEVICES, 0]);
  await eventually(async () => (await jobCopies(nextWorker)) === 0);
}, 45_000);

describe('a loss of all data in Redis', () => {
  test('while a broadcast waits as a bundle: all its devices are reached', async () => {
    const worker = await openWorker();
    await broadcast(worker);
    await testRedis.flush();
    worker.start();
    await worker.jobs.restoreOnce();
    await allDevicesReached();
    await queueIsEmpty();
    expect(provider.arrived).toHaveLength(DEVICES);
  });

  test('while the jobs of a broadcast are being sent: all its devices are reached, none twice', async () => {
    const worker = await openWorker();
    await broadcast(worker);
    let endDelay = (): void => undefined;
    provider.delay = new Promise((resolve) => (endDelay = resolve));
    worker.start();
    // Four jobs are at the push provider, sixteen wait in the queue.
    await eventually(async () => (await queue.getActiveCount()) === 4 && (await queue.getWaitingCount()) === 16);
    await testRedis.flush();
    endDelay();
    await worker.jobs.restoreOnce();
    await allDevicesReached();
    await queueIsEmpty();
    expect(provider.arrived).toHaveLength(DEVICES);
    await eventually(async () => (await jobCopies(worker)) === 0);
  });
});

test('after the `useful_until` of a broadcast all its jobs expire and no device is reached', async () => {
  const worker = await openWorker();
  const jobs = await broadcast(worker, { useful_until: '2026-11-18T13:00:00.000Z' });
  worker.start();
  await eventually(async () => (await queue.getCompletedCount()) === RANGES + 1);
  expect((await queuedJobsOf(jobs)).map((job) => job?.returnvalue as unknown)).toEqual(jobs.map(() => 'expired'));
  expect(provider.arrived).toEqual([]);
});

test('an invalid range of a broadcast becomes one dead letter, and the other ranges of the bundle reach their devices', async () => {
  const worker = await openWorker();
  const jobs = await broadcast(worker);
  const [bundle] = await queue.getJobs(['waiting']);
  const data = bundle?.data as { ranges: string };
  const invalid = data.ranges.replace(/\{[^}]*\}/, '{"from": 0, "to": 501}');
  await bundle?.updateData({ ...data, ranges: invalid });
  worker.start();
  await eventually(() => Promise.resolve(new Set(provider.arrived).size === DEVICES - DEVICES / RANGES));
  await queueIsEmpty();
  expect((await queue.getFailed()).map(({ id }) => id)).toEqual([jobs[0]?.job_id]);
});
