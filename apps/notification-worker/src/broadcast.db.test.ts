import { broadcastBundle, JOBS_PREFIX, type BroadcastJob } from '#contracts/queue-jobs';
import { newId } from '#platform/ids';
import { BullmqDestination } from '#platform/jobs/bullmq-destination';
import { notificationJobOptions } from '#platform/jobs/job-policy';
import { createLogger } from '#platform/logging/logger';
import { OutboxRelay } from '#platform/outbox/outbox-relay';
import { UnlimitedProvider } from '#platform/sending/provider-limiter';
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
let provider: Phones;

/** What arrives at the devices; may be told to wait. */
class Phones extends PushProvider {
  readonly arrived: string[] = [];
  gate = Promise.resolve();
  async send({ tokens }: OutgoingPush): Promise<readonly DeviceResult[]> {
    await this.gate;
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
  provider = new Phones();
});

afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.close()));
});

afterAll(async () => {
  await queue.close();
  await connection.quit();
  await Promise.all([testDatabase.drop(), testRedis.close()]);
});

async function worker(): Promise<BareWorker> {
  const made = await bareWorker({
    databaseUrl: testDatabase.url,
    redisUrl: testRedis.url,
    pushes: provider,
    gate: () => new UnlimitedProvider(),
    retrySeconds: [0, 0],
  });
  workers.push(made);
  return made;
}

/** A broadcast to 200 devices in 20 ranges, as the monolith writes it, and one round of its relay. */
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

const everybody = (): Promise<true> =>
  eventually(() => Promise.resolve(new Set(provider.arrived).size === DEVICES)).then(() => true);
const nothingInHand = (): Promise<true> =>
  eventually(async () => (await queue.getJobCountByTypes('waiting', 'active', 'delayed')) === 0).then(() => true);
const copies = async ({ database }: BareWorker): Promise<number> =>
  (await database.query<{ count: number }[]>('select count(*)::int as count from queued_jobs'))[0]?.count ?? -1;
const queueSize = async ({ registry }: BareWorker): Promise<number | undefined> =>
  (await registry.getMetricsAsJSON()).find(({ name }) => name === 'notification_push_queue_size')?.values[0]?.value;
const ofId = (jobs: readonly BroadcastJob[]) => Promise.all(jobs.map(({ job_id }) => queue.getJob(job_id)));

test('a broadcast waits as one bundle, counted as the jobs it is; then each range is a job of its own, and each device is reached once', async () => {
  const one = await worker();
  const jobs = await broadcast(one);
  expect([await queue.getJobCountByTypes('waiting'), await queueSize(one)]).toEqual([1, RANGES]);
  one.start();
  await everybody();
  await nothingInHand();
  expect(provider.arrived).toHaveLength(DEVICES);
  const done = await ofId(jobs);
  expect(done.map((job) => job?.returnvalue as unknown)).toEqual(jobs.map(() => 'sent'));
  // Its age is the message's own: a wait in a bundle is no secret.
  expect(new Set(done.map((job) => job?.timestamp))).toEqual(new Set([Date.parse('2026-11-18T12:00:00Z')]));
  await eventually(async () => (await copies(one)) === 0);
  expect(await queueSize(one)).toBe(0);
});

test.each([
  ['under the same ids of its jobs reaches nobody', false, DEVICES],
  // The control: what keeps the second one quiet are the ids.
  ['under other ids reaches everybody again', true, 2 * DEVICES],
])('a bundle that comes a second time %s', async (_name, otherIds, arrived) => {
  const one = await worker();
  await broadcast(one);
  const [bundle] = await queue.getJobs(['waiting']);
  const data = bundle?.data as { ranges: string };
  one.start();
  await everybody();
  await nothingInHand();
  // Also when Redis has forgotten that it ever had them.
  await testRedis.flush();
  const again = (JSON.parse(data.ranges) as [string, unknown][]).map(([id, range]) => [otherIds ? newId() : id, range]);
  const id = newId();
  await queue.add('match_changed', { ...data, job_id: id, ranges: JSON.stringify(again) }, notificationJobOptions(id));
  await eventually(async () => (await queue.getCompletedCount()) === RANGES + 1);
  expect(provider.arrived).toHaveLength(arrived);
});

test('a worker that dies with a bundle half unpacked: the next one unpacks the rest, and each device is reached once', async () => {
  const heir = await worker();
  const jobs = await broadcast(heir);
  // It has taken the bundle, written the copies, and put seven of its twenty jobs in; its lock runs out at once.
  const dying = new Worker('push', undefined, { connection, prefix: JOBS_PREFIX, autorun: false, lockDuration: 50 });
  const taken = await dying.getNextJob('dying');
  expect(taken?.data).toHaveProperty('ranges');
  await heir.jobs.unpack('push', broadcastBundle.parse(taken?.data));
  for (const job of await ofId(jobs.slice(7))) await job?.remove();
  await dying.close(true);
  heir.start();
  await eventually(() => Promise.resolve(new Set(provider.arrived).size === 70));
  await eventually(() => Promise.resolve(new Set(provider.arrived).size === DEVICES), 25_000);
  await nothingInHand();
  expect([provider.arrived.length, heir.possibleDuplicates()]).toEqual([DEVICES, 0]);
  await eventually(async () => (await copies(heir)) === 0);
}, 45_000);

describe('a Redis that loses everything', () => {
  test('while the broadcast waits as a bundle costs nobody', async () => {
    const one = await worker();
    await broadcast(one);
    await testRedis.flush();
    one.start();
    await one.jobs.restoreOnce();
    await everybody();
    await nothingInHand();
    expect(provider.arrived).toHaveLength(DEVICES);
  });

  test('in the middle of it costs nobody, and reaches nobody twice', async () => {
    const one = await worker();
    await broadcast(one);
    let open = (): void => undefined;
    provider.gate = new Promise((resolve) => (open = resolve));
    one.start();
    // Four are in hand at the provider, sixteen wait.
    await eventually(async () => (await queue.getActiveCount()) === 4 && (await queue.getWaitingCount()) === 16);
    await testRedis.flush();
    open();
    await one.jobs.restoreOnce();
    await everybody();
    await nothingInHand();
    expect(provider.arrived).toHaveLength(DEVICES);
    await eventually(async () => (await copies(one)) === 0);
  });
});

test('a broadcast that is of no use any more expires range by range', async () => {
  const one = await worker();
  const jobs = await broadcast(one, { useful_until: '2026-11-18T13:00:00.000Z' });
  one.start();
  await eventually(async () => (await queue.getCompletedCount()) === RANGES + 1);
  expect((await ofId(jobs)).map((job) => job?.returnvalue as unknown)).toEqual(jobs.map(() => 'expired'));
  expect(provider.arrived).toEqual([]);
});

test('a range that is wrong is one dead letter, and the rest of its bundle arrives', async () => {
  const one = await worker();
  const jobs = await broadcast(one);
  const [bundle] = await queue.getJobs(['waiting']);
  const data = bundle?.data as { ranges: string };
  const wrong = data.ranges.replace(/\{[^}]*\}/, '{"from": 0, "to": 501}');
  await bundle?.updateData({ ...data, ranges: wrong });
  one.start();
  await eventually(() => Promise.resolve(new Set(provider.arrived).size === DEVICES - DEVICES / RANGES));
  await nothingInHand();
  expect((await queue.getFailed()).map(({ id }) => id)).toEqual([jobs[0]?.job_id]);
});
