import { emailJob, JOBS_PREFIX, type EmailJob } from '#contracts/queue-jobs';
import type { AlertOperators } from '#domain/notification/alert-operators';
import { notificationJobOptions } from '#messaging/jobs/job-policy';
import { QueueConsumer } from '#messaging/jobs/queue-consumer';
import { createLogger } from '#platform/logging/logger';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { ticketMail } from './testing/jobs.ts';
import { eventually, inState, runWorker, type RunningWorker } from './testing/running-worker.ts';

let database: TestDatabase;
let redis: TestRedis;
let sql: pg.Client;
let connection: Redis;
let queue: Queue;
const workers: RunningWorker[] = [];

beforeEach(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  sql = new pg.Client({ connectionString: database.url });
  await sql.connect();
  connection = new Redis(redis.url, { maxRetriesPerRequest: null });
  queue = new Queue('email', { connection, prefix: JOBS_PREFIX });
});

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.close()));
  await queue.close();
  await Promise.all([connection.quit(), sql.end()]);
  await Promise.all([database.close(), redis.close()]);
});

/** Starts one replica of the notification worker on the database and Redis of the test. */
async function openWorker(): Promise<void> {
  workers.push(await runWorker({ ALERT_EMAIL: 'ops@hns.hr' }, { database, redis }));
}

/** Adds a mail job with an invalid payload and waits until it is a dead letter. Returns its id. */
async function addDeadLetter(): Promise<string> {
  const mail = { ...ticketMail(), payload: {} };
  await inState(await queue.add('ticket_delivery', mail, notificationJobOptions(mail.job_id)), 'failed');
  return mail.job_id;
}

const alerts = async (): Promise<AlertOperators[]> =>
  (await sql.query<{ message: AlertOperators }>(`select message from jobs where class = 'alert_operators' order by id`)).rows.map(
    ({ message }) => message,
  );
const alertTexts = async (): Promise<string> => (await alerts()).map(({ text }) => text).join('\n');
/** Changes the stored alerts as if half a minute had passed and the monolith had delivered all of them. */
async function passHalfAMinute(): Promise<void> {
  await sql.query(`update alert_notes set told_at = told_at - interval '31 s'`);
  await sql.query(`update jobs set done_at = now() where class = 'alert_operators'`);
}

test('a dead letter is reported by an alert, and a dead letter right after it by a second alert half a minute later', async () => {
  await openWorker();
  const first = await addDeadLetter();
  await eventually(async () => (await alertTexts()).includes(first));
  const second = await addDeadLetter();
  await passHalfAMinute();
  await eventually(async () => (await alertTexts()).includes(second), 30_000);
}, 60_000);

test('a dead letter that a worker did not report before it died is reported by the next worker', async () => {
  const mail = ticketMail();
  const dying = new QueueConsumer<EmailJob>({
    queue: 'email',
    prefix: JOBS_PREFIX,
    connection,
    schema: emailJob,
    concurrency: 1,
    retrySeconds: [],
    logger: createLogger({ service: 'test', level: 'silent' }),
    handle: () => Promise.reject(new Error('mailgun answered 400')),
    onDeadLetter: () => undefined,
    isOutage: () => false,
  });
  dying.start();
  await inState(await queue.add(mail.template, mail, notificationJobOptions(mail.job_id)), 'failed');
  await dying.stop(1000);
  await openWorker();
  await eventually(async () => (await alertTexts()).includes(mail.job_id), 20_000);
  expect(await alerts()).toMatchObject([{ about: 'dead letter email ticket_delivery', count: 1 }]);
  expect(await alertTexts()).toContain('a mail ticket_delivery is in the dead letter: mailgun answered 400');
}, 60_000);

test('with two replicas of the worker, each of forty dead letters is reported exactly once', async () => {
  await Promise.all([openWorker(), openWorker()]);
  const dead = await Promise.all(Array.from({ length: 40 }, () => addDeadLetter()));
  await eventually(async () => (await sql.query(`select 1 from alert_notes`)).rowCount === 40, 30_000);
  const count = async (): Promise<number> => (await alerts()).reduce((sum, { count: facts = 1 }) => sum + facts, 0);
  await eventually(async () => (await passHalfAMinute(), (await count()) >= 40), 60_000);
  expect(await count()).toBe(40);
  const { rows } = await sql.query<{ text: string }>('select text from alert_notes');
  expect(dead.filter((id) => !rows.some(({ text }) => text.includes(id)))).toEqual([]);
}, 120_000);
