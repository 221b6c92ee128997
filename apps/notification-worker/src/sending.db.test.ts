import { JOBS_PREFIX, type EmailJob, type JobQueue, type PushJob } from '#contracts/queue-jobs';
import { notificationJobOptions } from '#messaging/jobs/job-policy';
import { createLogger } from '#platform/logging/logger';
import { BullmqDestination } from '#messaging/jobs/bullmq-destination';
import { OutboxRelay } from '#messaging/outbox/outbox-relay';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { Queue, type Job } from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { MailProvider } from './email/application/ports.ts';
import { Mailgun } from './email/outbound/mailgun.ts';
import type { DeviceResult, OutgoingPush } from './push/application/ports.ts';
import { PushProvider } from './push/application/ports.ts';
import { Fcm } from './push/outbound/fcm.ts';
import { UnlimitedProvider, SharedProviderLimiter } from '#messaging/sending/provider-limiter';
import { bareWorker, type BareOptions, type BareWorker } from './testing/bare-worker.ts';
import { fcmError, FakeFcm } from './testing/fake-fcm.ts';
import { maxInOneSecond } from '#testing/sliding-second';
import { ticketMail, turnPush } from './testing/jobs.ts';
import { FakeMailgun } from './testing/fake-mailgun.ts';
import { eventually, inState } from './testing/running-worker.ts';

let testDatabase: TestDatabase;
let testRedis: TestRedis;
let connection: Redis;
let mailgun: FakeMailgun;
let fcm: FakeFcm;
let workers: BareWorker[];
let queues: Map<JobQueue, Queue>;

beforeAll(async () => {
  [testDatabase, testRedis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  connection = new Redis(testRedis.url, { maxRetriesPerRequest: null });
});

beforeEach(async () => {
  await testRedis.flush();
  workers = [];
  queues = new Map();
  [mailgun, fcm] = await Promise.all([FakeMailgun.start(), FakeFcm.start()]);
});

afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.close()));
  await Promise.all([...queues.values()].map((queue) => queue.close()));
  await Promise.all([mailgun.close(), fcm.close()]);
});

afterAll(async () => {
  await connection.quit();
  await Promise.all([testDatabase.close(), testRedis.close()]);
});

const queue = (name: JobQueue): Queue => {
  const known = queues.get(name) ?? new Queue(name, { connection, prefix: JOBS_PREFIX });
  queues.set(name, known);
  return known;
};
const publish = (name: JobQueue, job: EmailJob | PushJob): Promise<Job> =>
  queue(name).add(job.template, job, notificationJobOptions(job.job_id));

async function startWorker(options: Partial<BareOptions> = {}): Promise<BareWorker> {
  const worker = await bareWorker({
    databaseUrl: testDatabase.url,
    redisUrl: testRedis.url,
    mails: new Mailgun({ ...mailgun.settings, timeoutMs: 400 }),
    pushes: new Fcm({ base: fcm.url, account: fcm.account }),
    limiter: (redis) =>
      new SharedProviderLimiter(redis, {
        provider: 'test',
        callsPerSecond: 10_000,
        onBreaker: () => undefined,
        probeIntervalMs: 300,
      }),
    retrySeconds: [0, 0],
    lockMs: 300,
    ...options,
  });
  workers.push(worker);
  worker.start();
  return worker;
}

const mailsTo = (to: string): number => mailgun.arrived.filter((mail) => mail.to === to).length;
const publishMails = (count: number): Promise<Job[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => publish('email', ticketMail({ recipient: `fan${n}@example.com` }))));

describe('a mail through a provider', () => {
  test('is sent once, even if its job comes a second time 40 days later, after Redis has lost all data', async () => {
    await startWorker();
    const mail = ticketMail({ recipient: 'once@example.com' });
    await inState(await publish('email', mail), 'completed');
    await testRedis.flush();
    await workers[0]?.database.query(`update inbox set finished_at = finished_at - interval '40 days', claimed_at = null`);
    await inState(await publish('email', mail), 'completed');
    expect((await queue('email').getJob(mail.job_id))?.returnvalue).toBe('duplicate');
    expect(mailsTo('once@example.com')).toBe(1);
  });

  test.each([
    { ledger: false, arrived: 2 },
    { ledger: true, arrived: 1 },
  ])(
    'whose job is delivered twice arrives $arrived times when the ledger of sends is on: $ledger',
    async ({ ledger, arrived }) => {
      await startWorker({ ledger });
      const mail = ticketMail({ recipient: `ledger-${ledger}@example.com` });
      for (let delivery = 0; delivery < 2; delivery += 1) {
        await inState(await publish('email', mail), 'completed');
        await testRedis.flush();
      }
      expect(mailsTo(mail.recipient)).toBe(arrived);
    },
  );

  test('that the provider accepted without an answer is sent once more, counted as a possible duplicate, and becomes a dead letter', async () => {
    const worker = await startWorker();
    const mail = ticketMail({ recipient: 'unanswered@example.com' });
    mailgun.next.push('accept without answer', 'accept without answer');
    const job = await publish('email', mail);
    await inState(job, 'failed');
    expect((await queue('email').getJob(mail.job_id))?.failedReason).toMatch(/without an answer/);
    // The dead letter is reported only after the job has failed.
    await eventually(() => Promise.resolve(worker.deadLetters.length > 0));
    expect([mailsTo(mail.recipient), worker.possibleDuplicates(), worker.deadLetters]).toEqual([
      2,
      1,
      ['dead letter email ticket_delivery'],
    ]);
  });

  test('that the provider refuses for good is a dead letter after one attempt', async () => {
    const worker = await startWorker();
    mailgun.next.push({ status: 400, body: { message: 'no such address' } });
    const job = await publish('email', ticketMail());
    await inState(job, 'failed');
    await eventually(() => Promise.resolve(worker.deadLetters.length > 0));
    expect([mailgun.requests, worker.deadLetters.length, worker.possibleDuplicates()]).toEqual([1, 1, 0]);
  });

  test('has its job completed before the send is persisted, and the worker does not stop until the send is persisted', async () => {
    const holder = new pg.Client({ connectionString: testDatabase.url });
    await holder.connect();
    const mails = new ProviderThatLocksLedger(holder);
    const worker = await startWorker({ mails });
    const job = await publish('email', ticketMail());
    await inState(job, 'completed');
    let hasStopped = false;
    const stopping = worker.stop().then(() => (hasStopped = true));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(hasStopped).toBe(false);
    await holder.query('rollback');
    await stopping;
    const { rows } = await holder.query('select finished_at is not null as finished from inbox where message_id = $1', [job.id]);
    expect(rows).toEqual([{ finished: true }]);
    await holder.end();
  });

  test('is dropped as expired after its `useful_until`', async () => {
    await startWorker();
    const mail = ticketMail({ useful_until: new Date(Date.now() - 1000).toISOString() });
    await inState(await publish('email', mail), 'completed');
    expect([(await queue('email').getJob(mail.job_id))?.returnvalue, mailgun.requests]).toEqual(['expired', 0]);
  });
});

describe('a mail provider that is down, then limits the rate, then works again', () => {
  test('negative control, without the breaker: every mail becomes a dead letter', async () => {
    const worker = await startWorker({ limiter: () => new UnlimitedProvider() });
    mailgun.always = { status: 503 };
    await publishMails(40);
    await eventually(() => Promise.resolve(worker.deadLetters.length === 40));
    expect(mailgun.requests).toBe(120);
  });

  test('with the breaker every mail arrives exactly once, and none becomes a dead letter', async () => {
    const worker = await startWorker({ retrySeconds: [1, 1] });
    mailgun.always = { status: 503 };
    const jobs = await publishMails(40);
    await new Promise((resolve) => setTimeout(resolve, 4000));
    // 20 failed calls open the breaker. After that only one call every 300 ms is tried, not one for each job and retry.
    expect(mailgun.requests).toBeGreaterThanOrEqual(20);
    expect(mailgun.requests).toBeLessThan(50);
    mailgun.next.push({ status: 429, headers: { 'retry-after': '1' } });
    mailgun.always = undefined;
    await Promise.all(jobs.map((job) => inState(job, 'completed', 20_000)));
    expect([mailgun.arrived.length, new Set(mailgun.arrived.map(({ to }) => to)).size]).toEqual([40, 40]);
    expect([worker.deadLetters, worker.possibleDuplicates()]).toEqual([[], 0]);
  }, 40_000);

  test('a mail that the provider refuses with 429 (too many requests) is sent again, and the refusal does not count as an attempt', async () => {
    await startWorker();
    mailgun.next.push({ status: 429, headers: { 'retry-after': '1' } });
    const mail = ticketMail();
    await inState(await publish('email', mail), 'completed');
    expect((await queue('email').getJob(mail.job_id))?.attemptsMade).toBe(1);
  });
});

test('the calls of the old and the new worker of a rollout, counted together, stay within the rate limit in every second', async () => {
  const options: Partial<BareOptions> = {
    mailsAtOnce: 50,
    limiter: (redis) =>
      new SharedProviderLimiter(redis, { provider: 'rollout', callsPerSecond: 100, onBreaker: () => undefined }),
    mails: new Mailgun(mailgun.settings),
  };
  const old = await startWorker(options);
  const jobs = await publishMails(350);
  await eventually(() => Promise.resolve(mailgun.requests > 80));
  await startWorker(options);
  await eventually(() => Promise.resolve(mailgun.requests > 200));
  await old.stop();
  await Promise.all(jobs.map((job) => inState(job, 'completed', 20_000)));
  expect(mailgun.arrived).toHaveLength(350);
  expect(maxInOneSecond(mailgun.times)).toBeLessThanOrEqual(100);
}, 40_000);

describe('a loss of all data in Redis', () => {
  /** Moves the mails from the outbox into Redis, as the monolith's relay does. */
  async function relay(worker: BareWorker, mails: readonly EmailJob[]): Promise<void> {
    for (const mail of mails) {
      await worker.database.query(`insert into outbox (id, destination, event, body) values ($1, 'email', 'test', $2)`, [
        mail.job_id,
        JSON.stringify(mail),
      ]);
    }
    const destination = new BullmqDestination('email', connection);
    await new OutboxRelay(worker.database, destination, createLogger({ service: 'test', level: 'silent' })).runOnce();
    await destination.close();
  }

  test('while 60 mails are sent: every mail arrives exactly once', async () => {
    const worker = await startWorker({ mailsAtOnce: 2 });
    const mails = Array.from({ length: 60 }, (_, n) => ticketMail({ recipient: `wiped${n}@example.com` }));
    mailgun.always = undefined;
    await relay(worker, mails);
    await eventually(() => Promise.resolve(mailgun.arrived.length > 10));
    await testRedis.flush();
    expect(mailgun.arrived.length).toBeLessThan(60);
    await worker.jobs.restoreOnce();
    await eventually(() => Promise.resolve(new Set(mailgun.arrived.map(({ to }) => to)).size === 60));
    expect(mailgun.arrived).toHaveLength(60);
    await eventually(async () => {
      const [copies] = await worker.database.query<{ count: number }[]>('select count(*)::int as count from queued_jobs');
      return copies?.count === 0;
    });
  });

  test('is repaired by one call of restoreOnce; a second call right after it adds no job', async () => {
    const worker = await startWorker();
    await worker.jobs.restoreOnce();
    await worker.database.query(`insert into queued_jobs (message_id, queue, body) values (gen_random_uuid(), 'email', $1)`, [
      JSON.stringify(ticketMail()),
    ]);
    await worker.jobs.restoreOnce();
    expect(await queue('email').getJobCountByTypes('waiting', 'active', 'completed', 'failed')).toBe(0);
    await worker.database.query('delete from queued_jobs');
  });
});

describe('a push through a provider', () => {
  const tokens = (count: number): string[] => Array.from({ length: count }, (_, n) => `device-${n}`);

  test('is retried only for the devices that failed, and the monolith gets a message with the dead tokens', async () => {
    const worker = await startWorker({ callsAtOnce: 20 });
    fcm.devices.set('device-3', fcmError(404, 'UNREGISTERED'));
    fcm.devices.set('device-5', fcmError(503, 'UNAVAILABLE'));
    const push = turnPush({ fcm_tokens: tokens(50) });
    const job = await publish('push', push);
    await inState(job, 'failed');
    expect([fcm.arrived.length, new Set(fcm.arrived.map(({ token }) => token)).size]).toEqual([48, 48]);
    // A retry of the dead letter sends only to the device that failed.
    fcm.devices.delete('device-5');
    await (await queue('push').getJob(push.job_id))?.retry();
    await inState(job, 'completed');
    expect([fcm.arrived.length, fcm.arrived.at(-1)?.token]).toEqual([49, 'device-5']);
    const messages = await worker.database.query<{ body: { fcm_tokens: string[] } }[]>(
      `select body from outbox where destination = 'devices'`,
    );
    expect(messages.map(({ body }) => body.fcm_tokens)).toEqual([['device-3']]);
  });

  test('to 500 devices whose worker dies reaches all devices; devices without a recorded result may get it twice and are counted', async () => {
    const dying = new FreezingProvider(new Fcm({ base: fcm.url, account: fcm.account }), 3);
    const frozen = await startWorker({ pushes: dying, pushesAtOnce: 1, callsAtOnce: 100, lockMs: 500 });
    const push = turnPush({ fcm_tokens: tokens(500) });
    await publish('push', push);
    await eventually(() => Promise.resolve(dying.isFrozen));
    // Redis loses all data after the worker has died, so the progress is only in PostgreSQL.
    await testRedis.flush();
    await new Promise((resolve) => setTimeout(resolve, 600));
    const nextWorker = await startWorker({ callsAtOnce: 100, lockMs: 500 });
    await inState(await publish('push', push), 'completed');
    // FCM had answered three groups of 100. The third one was not recorded yet, so it is sent again. The last two were never
    // sent.
    expect([new Set(fcm.arrived.map(({ token }) => token)).size, fcm.arrived.length]).toEqual([500, 600]);
    expect(nextWorker.possibleDuplicates()).toBe(300);
    dying.wakeUp();
    await frozen.stop();
  });

  test('to many devices stops between two groups of devices when its worker stops, and another worker sends to the remaining devices', async () => {
    fcm.delayMs = 60;
    const first = await startWorker({ callsAtOnce: 20, lockMs: 20_000 });
    const push = turnPush({ fcm_tokens: tokens(200) });
    const job = await publish('push', push);
    await eventually(() => Promise.resolve(fcm.arrived.length >= 40));
    await first.stop();
    expect(fcm.arrived.length).toBeLessThan(200);
    expect(await job.getState()).toBe('waiting');
    const second = await startWorker({ lockMs: 20_000 });
    await inState(job, 'completed');
    expect([fcm.arrived.length, second.possibleDuplicates()]).toEqual([200, 0]);
  });

  test('of a broadcast updates the progress of the broadcast, and a second delivery of its job reaches no device', async () => {
    const worker = await startWorker();
    const id = '0190f3a2-7c11-7d32-9f00-5b2e9c4d7e81';
    await worker.database.query(`insert into broadcasts (id, template, devices) values ($1, 'match_changed', 700)`, [id]);
    await worker.database.query(`insert into broadcast_devices select $1, n, 'device-' || n from generate_series(0, 699) n`, [
      id,
    ]);
    const range = (job_id: string, from: number, to: number): PushJob => {
      const { user_id: _user, fcm_tokens: _tokens, ...push } = turnPush({ template: 'match_changed', priority: 'normal' });
      return { ...push, job_id, broadcast_id: id, range: { from, to } } as never;
    };
    const [first, second] = [range('r1', 0, 500), range('r2', 500, 700)];
    for (const job of [first, second]) await inState(await publish('push', job), 'completed');
    await testRedis.flush();
    await inState(await publish('push', first), 'completed');
    expect([fcm.arrived.length, new Set(fcm.arrived.map(({ token }) => token)).size]).toEqual([700, 700]);
    const progress = await new (await import('./push/outbound/postgres-broadcasts.ts')).PostgresBroadcasts(
      worker.database,
    ).progress();
    expect(progress).toEqual([{ id, template: 'match_changed', devices: 700, done: 700, dead: 0, refused: 0 }]);
  });

  test('that is urgent is sent within 500 ms, although bulk pushes use up their share of the calls', async () => {
    await startWorker({
      limiter: (redis) =>
        new SharedProviderLimiter(redis, { provider: 'priorities', callsPerSecond: 100, onBreaker: () => undefined }),
    });
    const slow = await Promise.all(
      [1, 2, 3, 4].map((n) => publish('push', turnPush({ fcm_tokens: tokens(100).map((t) => `${t}-${n}`) }))),
    );
    await eventually(() => Promise.resolve(fcm.arrived.length >= 90));
    const startedAt = performance.now();
    const urgent = turnPush({ fcm_tokens: ['urgent'] });
    await publish('push-priority', urgent);
    await eventually(() => Promise.resolve(fcm.arrived.some(({ token }) => token === 'urgent')));
    expect(performance.now() - startedAt).toBeLessThan(500);
    expect(fcm.arrived.length).toBeLessThan(300);
    await Promise.all(slow.map((job) => inState(job, 'completed', 15_000)));
  }, 30_000);
});

/**
 * A provider that locks the ledger of sends (the table `inbox`) with each mail, so that the send cannot be persisted until the
 * lock is released.
 */
class ProviderThatLocksLedger extends MailProvider {
  constructor(private readonly holder: pg.Client) {
    super();
  }
  async send(): Promise<void> {
    await this.holder.query('begin');
    await this.holder.query('lock table inbox in exclusive mode');
  }
}

/**
 * A push provider that answers `remaining` - 1 calls. The pushes of the next call are sent too, but `send` does not return their
 * results until `wakeUp`.
 */
class FreezingProvider extends PushProvider {
  isFrozen = false;
  wakeUp: () => void = () => undefined;
  constructor(
    private readonly inner: PushProvider,
    private remaining: number,
  ) {
    super();
  }
  async send(push: OutgoingPush): Promise<readonly DeviceResult[]> {
    this.remaining -= 1;
    const results = await this.inner.send(push);
    if (this.remaining > 0) return results;
    this.isFrozen = true;
    return new Promise((resolve) => (this.wakeUp = () => resolve(results)));
  }
}
