import { JOBS_PREFIX, type EmailJob } from '#contracts/queue-jobs';
import { newId } from '#platform/ids';
import { AlertUpkeep } from '#messaging/sending/alert-upkeep';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { OutboxRelays } from '../relay/outbox-relays.ts';
import type { TestAnswer } from '../testing/test-app.ts';
import { openMonolith, ops, type WholeMonolith } from '../testing/whole-monolith.ts';
import { JobsApi } from './jobs.api.ts';

// Parked outbox messages: operators get an alert, see them in the list of jobs, and can retry or drop them.

const JOBS = '/api/v1/ops/jobs';
let testDatabase: TestDatabase;
let testRedis: TestRedis;
let monolith: WholeMonolith;
let connection: Redis;
let mails: Queue;
const alerts: { text: string; alert: string }[] = [];
const webhook = http.createServer((request, response) => {
  let body = '';
  request.on('data', (part) => (body += String(part)));
  request.on('end', () => {
    alerts.push(JSON.parse(body));
    response.end();
  });
});

beforeAll(async () => {
  [testDatabase, testRedis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
  const ALERT_WEBHOOK_URL = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}`;
  monolith = await openMonolith({ DATABASE_URL: testDatabase.url, REDIS_URL: testRedis.url, ALERT_WEBHOOK_URL });
  connection = new Redis(testRedis.url, { maxRetriesPerRequest: null });
  mails = new Queue('email', { connection, prefix: JOBS_PREFIX });
});
beforeEach(async () => {
  alerts.length = 0;
  await testRedis.flush();
  await monolith.dataSource.query('truncate jobs, outbox, job_interventions, inbox, alert_notes');
});
afterAll(async () => {
  await mails.close();
  await connection.quit();
  await monolith.close();
  webhook.close();
  await Promise.all([testDatabase.close(), testRedis.close()]);
});

const sql = <T>(text: string, values: unknown[] = []): Promise<T[]> => monolith.dataSource.query(text, values);
const relay = async (destination: string): Promise<number> => {
  const found = monolith.get(OutboxRelays).relays.find((candidate) => candidate.destination.name === destination);
  return (await found?.runOnce()) ?? 0;
};
const relayAll = async (destination: string): Promise<void> => {
  while ((await relay(destination)) > 0);
};
const list = async (query: string): Promise<TestAnswer['json'][]> => (await monolith.call('GET', JOBS + query, ops)).json.items;
const ids = async (query: string): Promise<string[]> => (await list(query)).map(({ id }: { id: string }) => id);
const retry = (id: string): Promise<TestAnswer> => monolith.call('POST', `${JOBS}/${id}/retry`, ops);
const drop = (id: string): Promise<TestAnswer> => monolith.call('DELETE', `${JOBS}/${id}`, ops);

/** Inserts an outbox message for the queue `email` that is `days` days old. */
async function insertMessage(body: unknown, { days = 0, id = newId() } = {}): Promise<string> {
  await sql(
    `insert into outbox (id, destination, event, body, created_at)
     values ($1, 'email', 'order.refunded', $2, now() - make_interval(days => $3))`,
    [id, JSON.stringify(body), days],
  );
  return id;
}

/** Inserts a malformed message and lets the relay park it. */
async function parkMalformed(order: string): Promise<string> {
  const id = await insertMessage({ ...refundMail(order), template: 'no template' });
  await relayAll('email');
  return id;
}

/** Inserts a message that is nine days old and lets the relay park it because of its age. */
async function parkTooOld(mail: EmailJob): Promise<string> {
  const id = await insertMessage(mail, { days: 9, id: mail.job_id });
  await relayAll('email');
  return id;
}

function refundMail(order: string): EmailJob {
  const payload = { order_id: order, match_name: 'Hrvatska – Italija', total_amount: '€20.00', locale: 'hr' as const };
  const envelope = { job_id: newId(), created_at: new Date().toISOString(), attempts: 0 as const, max_attempts: 3 as const };
  return { ...envelope, type: 'email', recipient: 'ana.horvat@example.hr', template: 'refund', payload };
}

test('a parked message is listed among the failed jobs as queue `outbox`, with its failures and masked content', async () => {
  const id = await parkMalformed('ORD-2026-000077');
  expect(await ids('?state=failed')).toEqual([id]);
  const [job] = await list('?queue=outbox');
  expect(job).toMatchObject({
    ...{ id, queue: 'outbox', template: 'order.refunded', state: 'failed', transport: 'postgres', interventions: [] },
    attempts: [{ error: expect.stringContaining('not a job of queue email') as string }],
    payload: { destination: 'email', attempts: 1, body: { recipient: 'an•••@example.hr' } },
  });
  expect(Math.abs(Date.now() - Date.parse(job.attempts[0].at))).toBeLessThan(60_000);
  expect(JSON.stringify(job)).not.toContain('ana.horvat');
});

test('parked messages can be searched by content, event and id, newest first; waiting messages are not listed', async () => {
  const [first, second] = [await parkMalformed('ORD-2026-000077'), await parkMalformed('ORD-2026-000078')];
  await insertMessage(refundMail('ORD-2026-000079'));
  expect(await ids('?queue=outbox')).toEqual([second, first]);
  expect([await ids('?q=ord-2026-000077'), await ids(`?q=${second}`)]).toEqual([[first], [second]]);
  expect([await ids('?template=order.refunded'), await ids('?template=refund')]).toEqual([[second, first], []]);
  expect([await ids('?queue=outbox&state=waiting'), await ids('?queue=email')]).toEqual([[], []]);
  const { items, next_cursor } = (await monolith.call('GET', `${JOBS}?queue=outbox&limit=1`, ops)).json;
  expect([items[0].id, await ids(`?queue=outbox&cursor=${next_cursor}`)]).toEqual([second, [first]]);
  const counts = await monolith.get(JobsApi).counts();
  expect(counts.find(({ queue }) => queue === 'outbox')).toMatchObject({ waiting: 1, failed: 2 });
});

test('a parked message that two operators retry at once is sent once, and the retry is recorded', async () => {
  const mail = refundMail('ORD-2026-000080');
  const id = await insertMessage({ ...mail, type: 'typo' }, { id: mail.job_id });
  await relayAll('email');
  await sql('update outbox set body = $1', [JSON.stringify(mail)]);
  const statuses = (await Promise.all([retry(id), retry(id)])).map(({ status }) => status).sort();
  expect(statuses).toEqual([200, 409]);
  expect(await relay('email')).toBe(1);
  expect((await mails.getJob(id))?.data).toEqual(mail);
  expect(await sql('select queue, action, by from job_interventions')).toEqual([
    { queue: 'outbox', action: 'retry', by: ops.as },
  ]);
});

test('a parked message that is too old is sent when an operator retries it, unless it was sent before; other old messages stay parked', async () => {
  const [first, second, third] = [refundMail('1'), refundMail('2'), refundMail('3')];
  const [wanted, alreadySent, other] = [await parkTooOld(first), await parkTooOld(second), await parkTooOld(third)];
  await sql(`insert into inbox values ('email', $1, now(), now(), 1)`, [alreadySent]);
  for (const id of [wanted, alreadySent]) expect((await retry(id)).status).toBe(200);
  await relayAll('email');
  expect([(await mails.getJob(wanted))?.data, await mails.getJob(alreadySent)]).toEqual([first, undefined]);
  expect(await sql('select id, parked_at is not null as parked from outbox')).toEqual([{ id: other, parked: true }]);
});

test('dropping a parked message deletes it and records the operator; a waiting message cannot be dropped', async () => {
  const [id, waiting] = [await parkMalformed('ORD-2026-000081'), await insertMessage(refundMail('ORD-2026-000082'))];
  expect([(await drop(id)).status, (await drop(id)).status]).toEqual([204, 404]);
  expect((await drop(waiting)).json).toMatchObject({ status: 409, code: 'INVALID_STATE' });
  expect(await sql('select id from outbox')).toEqual([{ id: waiting }]);
  expect(await sql('select queue, action, by from job_interventions')).toEqual([{ queue: 'outbox', action: 'drop', by: ops.as }]);
});

test('operators get a second alert about a parked message if the job of the first alert has failed for good', async () => {
  const id = await parkMalformed('ORD-2026-000083');
  await monolith.get(AlertUpkeep).runOnce();
  // Simulates 36 seconds in which the webhook refused: the alert's job has failed for good, and its outbox message is gone.
  await sql(`update jobs set failed_at = now() - interval '1 minute' where class = 'alert_operators'`);
  await sql(`delete from outbox where destination = 'jobs'`);
  await monolith.get(AlertUpkeep).runOnce();
  await relayAll('jobs');
  const limits = { limit: 10, timeLimitSeconds: 10, untilEmpty: true, stop: new AbortController().signal };
  while (alerts.length === 0) await monolith.get(JobsApi).consume(limits);
  expect(alerts).toMatchObject([{ alert: 'parked message email', text: expect.stringContaining(id) as string }]);
});
