import { Jobs } from '#application/jobs';
import { TransactionManager } from '#application/transaction-manager';
import { broadcastBundle, emailJob, JOBS_PREFIX, type EmailJob } from '#contracts/queue-jobs';
import { newId } from '#platform/ids';
import { notificationJobOptions } from '#messaging/jobs/job-policy';
import { QueueConsumer } from '#messaging/jobs/queue-consumer';
import { QueuedJobs } from '#messaging/jobs/queued-jobs';
import { createLogger } from '#platform/logging/logger';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { FanBroadcasts } from '../fans/fans.api.ts';
import { OutboxRelays } from '../relay/outbox-relays.ts';
import { newKey, type TestAnswer } from '../testing/test-app.ts';
import { openMonolith, ops, type WholeMonolith } from '../testing/whole-monolith.ts';
import { JobsApi } from './jobs.api.ts';

const ALERT_EMAIL = 'ops@example.hr, night@example.hr';
const JOBS = '/api/v1/ops/jobs';
let testDatabase: TestDatabase;
let testRedis: TestRedis;
let monolith: WholeMonolith;
let connection: Redis;
let mails: Queue;
const alerts: { text: string; alert: string }[] = [];
let refuseAlerts = 0;
const webhook = http.createServer((request, response) => {
  let body = '';
  request.on('data', (part) => (body += String(part)));
  request.on('end', () => {
    if ((refuseAlerts -= 1) >= 0) return response.writeHead(503).end();
    alerts.push(JSON.parse(body));
    return response.end();
  });
});

beforeAll(async () => {
  [testDatabase, testRedis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
  const ALERT_WEBHOOK_URL = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}`;
  monolith = await openMonolith({ DATABASE_URL: testDatabase.url, REDIS_URL: testRedis.url, ALERT_WEBHOOK_URL, ALERT_EMAIL });
  connection = new Redis(testRedis.url, { maxRetriesPerRequest: null });
  mails = new Queue('email', { connection, prefix: JOBS_PREFIX });
});

beforeEach(async () => {
  await testRedis.flush();
  await monolith.dataSource.query('truncate jobs, outbox, job_interventions');
});

afterAll(async () => {
  await mails.close();
  await connection.quit();
  await monolith.close();
  webhook.closeAllConnections();
  await new Promise((resolve) => webhook.close(resolve));
  await Promise.all([testDatabase.close(), testRedis.close()]);
});

function refundMail(order: string): EmailJob {
  const payload = { order_id: order, match_name: 'Hrvatska – Italija', total_amount: '€20.00', locale: 'hr' as const };
  const envelope = { job_id: newId(), created_at: new Date().toISOString(), attempts: 0 as const, max_attempts: 3 as const };
  return { ...envelope, type: 'email', recipient: 'ana.horvat@example.hr', template: 'refund', payload };
}

/** Puts a mail among the failed jobs, after one failed send for each of the errors. Returns the id of the mail. */
async function deadMail(order: string, errors = ['550 no <ana.horvat@example.hr>']): Promise<string> {
  const mail = refundMail(order);
  let sends = 0;
  const consumer = new QueueConsumer<EmailJob>({
    queue: 'email',
    prefix: JOBS_PREFIX,
    connection,
    schema: emailJob,
    concurrency: 1,
    retrySeconds: errors.slice(1).map(() => 0),
    logger: createLogger({ service: 'test', level: 'silent' }),
    handle: () => Promise.reject(new Error(errors[(sends += 1) - 1])),
    onDeadLetter: () => undefined,
    isOutage: () => false,
  });
  consumer.start();
  const job = await mails.add(mail.template, mail, notificationJobOptions(mail.job_id));
  await until(async () => (await job.getState()) === 'failed');
  await consumer.stop(1000);
  return mail.job_id;
}

async function deadJob(about: string): Promise<string> {
  const jobs = monolith.get(Jobs);
  await monolith.get(TransactionManager).run((tx) => jobs.put(tx, [{ class: 'unknown_class', about } as { class: string }]));
  await relayJobs();
  await consume();
  const [row] = await monolith.dataSource.query<{ id: string }[]>(
    'select id from jobs where failed_at is not null order by id desc',
  );
  return row?.id ?? '';
}

async function relayJobs(): Promise<void> {
  const relay = monolith.get(OutboxRelays).relays.find(({ destination }) => destination.name === 'jobs');
  while (((await relay?.runOnce()) ?? 0) > 0);
}

const consume = (): Promise<number> =>
  monolith.get(JobsApi).consume({ limit: 10, timeLimitSeconds: 10, untilEmpty: true, stop: new AbortController().signal });

const list = async (query = ''): Promise<TestAnswer['json'][]> => (await monolith.call('GET', `${JOBS}${query}`, ops)).json.items;
const ids = async (query: string): Promise<string[]> => (await list(query)).map(({ id }: { id: string }) => id);
const retry = (id: string, more: { key?: string } = {}): Promise<TestAnswer> =>
  monolith.call('POST', `${JOBS}/${id}/retry`, { ...ops, ...more });

// This test must run first. Later tests let jobs of the same class fail, and the failures of one class within 30 s share one alert.
test('operators get one alert for two failed jobs of a class, even if their webhook refuses the first call', async () => {
  refuseAlerts = 1;
  const id = await deadJob('first');
  await deadJob('second');
  await until(async () => (await relayJobs(), await consume(), alerts.length > 0));
  expect(alerts).toMatchObject([{ alert: 'failed job unknown_class', text: expect.stringContaining(id) as string }]);
  expect(await ids('?state=failed')).toHaveLength(2);
});

test('operators get the alert by mail, one mail per address, while their webhook refuses it', async () => {
  refuseAlerts = 100;
  const alertBy = (channel: 'webhook' | 'mail') => ({
    class: 'alert_operators',
    by: channel,
    about: 'breaker fcm opened',
    text: 'fcm is down',
  });
  const at = new Date().toISOString();
  await monolith
    .get(TransactionManager)
    .run((tx) => monolith.get(Jobs).put(tx, [{ ...alertBy('webhook'), at } as never, { ...alertBy('mail'), at } as never]));
  await relayJobs();
  await consume();
  refuseAlerts = 0;
  const rows = await monolith.dataSource.query<{ body: EmailJob }[]>(
    `select body from outbox where destination = 'email' order by seq`,
  );
  expect(rows.map(({ body }) => emailJob.parse(body))).toMatchObject([
    { recipient: 'ops@example.hr', template: 'ops_alert', payload: { about: 'breaker fcm opened', text: 'fcm is down' } },
    { recipient: 'night@example.hr', template: 'ops_alert' },
  ]);
});

test('failed mails and failed general jobs are in one list, newest first, and can be searched by order, match or id', async () => {
  const matchId = newId();
  const mail = await deadMail('ORD-2026-000007');
  const job = await deadJob(matchId);
  expect(await ids('?state=failed')).toEqual([job, mail].sort().reverse());
  expect(await ids('?q=ord-2026-000007')).toEqual([mail]);
  expect([await ids(`?q=${matchId}`), await ids(`?q=${job}`), await ids(`?q=${mail}`)]).toEqual([[job], [job], [mail]]);
  expect([await ids('?queue=jobs'), await ids('?queue=email'), await ids('?queue=push')]).toEqual([[job], [mail], []]);
  expect(await ids('?state=waiting')).toEqual([]);
});

test('a job shows every attempt with time and error, newest first, and its addresses are masked', async () => {
  await deadMail('ORD-2026-000008', ['first <ana.horvat@example.hr>', 'second', 'third']);
  const [job] = await list();
  expect(job).toMatchObject({ queue: 'email', template: 'refund', state: 'failed', transport: 'redis' });
  expect(job.attempts.map(({ error }: { error: string }) => error)).toEqual(['third', 'second', 'first <an•••@example.hr>']);
  expect(job.attempts.every(({ at }: { at: string }) => Math.abs(Date.now() - Date.parse(at)) < 60_000)).toBe(true);
  expect(job.payload).toMatchObject({ recipient: 'an•••@example.hr', payload: { order_id: 'ORD-2026-000008' } });
  expect(JSON.stringify(job)).not.toContain('ana.horvat');
});

test('the list of jobs can be read in pages', async () => {
  const made = [await deadJob('1'), await deadJob('2'), await deadJob('3')].sort().reverse();
  const first = (await monolith.call('GET', `${JOBS}?limit=2`, ops)).json;
  expect(first.items.map(({ id }: { id: string }) => id)).toEqual(made.slice(0, 2));
  const second = (await monolith.call('GET', `${JOBS}?limit=2&cursor=${first.next_cursor}`, ops)).json;
  expect([second.items.map(({ id }: { id: string }) => id), second.next_cursor]).toEqual([made.slice(2), null]);
});

test('retrying a failed mail queues it again with all its attempts, once per idempotency key, and records the operator', async () => {
  const id = await deadMail('ORD-2026-000009');
  const key = newKey();
  const [answer, replay] = [await retry(id, { key }), await retry(id, { key })];
  expect([answer.status, answer.json.state, replay.headers['idempotency-replayed'], replay.text]).toEqual([
    200,
    'waiting',
    'true',
    answer.text,
  ]);
  await relayJobs();
  const job = await mails.getJob(id);
  expect([await job?.getState(), job?.attemptsMade]).toEqual(['waiting', 0]);
  expect((await list(`?q=${id}`))[0].interventions).toMatchObject([{ action: 'retry', by: ops.as }]);
  expect((await retry(id)).json).toMatchObject({ status: 409, code: 'INVALID_STATE' });
});

test('a retried general job runs again and keeps its earlier failed attempts', async () => {
  const id = await deadJob('x');
  expect((await retry(id)).status).toBe(200);
  expect(await ids('?state=waiting')).toEqual([id]);
  await relayJobs();
  await consume();
  const [job] = await list(`?q=${id}`);
  expect([job.state, job.attempts.length]).toEqual(['failed', 2]);
});

test('when two operators retry the same job at once, one gets 200 and the other 409', async () => {
  const id = await deadJob('x');
  const statuses = (await Promise.all([retry(id), retry(id)])).map(({ status }) => status).sort();
  expect(statuses).toEqual([200, 409]);
});

test('retrying an unknown job is 404, and a malformed job id is 400', async () => {
  expect((await retry(newId())).status).toBe(404);
  expect((await monolith.call('POST', `${JOBS}/no:id/retry`, ops)).status).toBe(400);
});

test('dropping a failed mail and a failed general job removes them and records the operator', async () => {
  const [mail, job] = [await deadMail('ORD-2026-000010'), await deadJob('x')];
  await monolith.dataSource.query(`insert into queued_jobs (message_id, queue, body) values ($1, 'email', '{}')`, [mail]);
  for (const id of [mail, job]) await monolith.get(JobsApi).drop({ id, by: 'cli:ana' });
  expect(await list()).toEqual([]);
  expect(await monolith.dataSource.query('select queue, action, by from job_interventions order by queue')).toEqual([
    { queue: 'email', action: 'drop', by: 'cli:ana' },
    { queue: 'jobs', action: 'drop', by: 'cli:ana' },
  ]);
  // The copy of the job in PostgreSQL must be deleted too. Otherwise the job would be restored to Redis.
  expect(await monolith.dataSource.query('select 1 from queued_jobs')).toEqual([]);
});

test('a search for a fan finds the bundle (many push jobs of a broadcast in one), and after it is unpacked the job with the fan’s device; counts are in jobs, not bundles', async () => {
  const { dataSource } = monolith;
  await dataSource.query('truncate queued_jobs');
  const [fan, otherFan] = [newId(), newId()];
  await dataSource.query(
    `insert into devices (user_id, device_id, fcm_token) values ($1, 'phone', 'token-700'), ($2, 'phone', 'another')`,
    [fan, otherFan],
  );
  const broadcast = {
    template: 'match_changed',
    event: 'match.changed',
    devices: { hr: Array.from({ length: 2400 }, (_, n) => `token-${n}`), en: [] },
    texts: { hr: { title: 'Promjena', body: 'Novi termin' }, en: { title: 'Change', body: 'New date' } },
    data: {},
  } as const;
  await monolith.get(TransactionManager).run((tx) => monolith.get(FanBroadcasts).create(tx, broadcast));
  const relay = monolith.get(OutboxRelays).relays.find(({ destination }) => destination.name === 'push');
  expect(await relay?.runOnce()).toBe(5);
  const pushes = new Queue('push', { connection, prefix: JOBS_PREFIX });
  const [bundle] = await pushes.getJobs(['waiting']);
  expect([await ids(`?q=${fan}`), await ids(`?q=${otherFan}`)]).toEqual([[bundle?.id], []]);
  const waitingPushes = async () => (await monolith.get(JobsApi).counts()).find(({ queue }) => queue === 'push')?.waiting;
  expect(await waitingPushes()).toBe(5);
  const worker = new QueuedJobs(dataSource, connection as never, createLogger({ service: 'test', level: 'silent' }));
  await worker.unpack('push', broadcastBundle.parse(bundle?.data));
  await bundle?.remove();
  await worker.close();
  const [found, ...more] = await ids(`?q=${fan}`);
  expect([(await pushes.getJob(found ?? ''))?.data, more]).toMatchObject([{ range: { from: 500, to: 1000 } }, []]);
  expect([await ids(`?q=${otherFan}`), await waitingPushes()]).toEqual([[], 5]);
  await pushes.close();
});

test('/metrics has the number of open and failed jobs and the age of the oldest open job', async () => {
  await deadJob('x');
  await monolith.dataSource.query(
    `insert into jobs (id, class, message, created_at) select gen_random_uuid(), 'c', '{}', now() - interval '90 s' from generate_series(1, 2)`,
  );
  const gauge = await monolith.resources.metrics.registry.getSingleMetric('background_jobs')?.get();
  expect(gauge?.values.map(({ value, labels }) => [labels.state, value])).toEqual([
    ['open', 2],
    ['failed', 1],
  ]);
  expect(await monolith.metric('background_jobs_oldest_seconds')).toBeGreaterThanOrEqual(90);
});

test('JobsApi.counts has an entry for every queue', async () => {
  await deadMail('ORD-2026-000011');
  await deadJob('x');
  const mail = refundMail('ORD-2026-000012');
  await mails.add(mail.template, mail, notificationJobOptions(mail.job_id));
  const counts = await monolith.get(JobsApi).counts();
  expect(counts.map(({ queue, waiting, failed }) => [queue, waiting, failed])).toEqual([
    ['email', 1, 1],
    ['push', 0, 0],
    ['push-priority', 0, 0],
    ['jobs', 0, 1],
    ['outbox', 0, 0],
  ]);
});

async function until(condition: () => Promise<boolean>, timeoutMs = 10_000): Promise<void> {
  const giveUpAt = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > giveUpAt) throw new Error(`Not true within ${timeoutMs} ms: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
