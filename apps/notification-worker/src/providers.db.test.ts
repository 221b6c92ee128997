import { ticketQrPng } from '#ticketing/ticket-qr-png';
import { writeFile, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { fcmError, FakeFcm } from './testing/fake-fcm.ts';
import { FakeHttpServer } from './testing/fake-http-server.ts';
import { ticketMail, turnPush } from './testing/jobs.ts';
import { FakeMailgun } from './testing/fake-mailgun.ts';
import { eventually, inState, runWorker, type RunningWorker } from './testing/running-worker.ts';

// The notification worker with production settings and with fake providers on this machine.

let mailgun: FakeMailgun;
let fcm: FakeFcm;
let alerts: FakeHttpServer;
let worker: RunningWorker;
let folder: string;
let sql: pg.Client;

const secret = 'x'.repeat(40);

beforeAll(async () => {
  [mailgun, fcm, alerts] = await Promise.all([
    FakeMailgun.start(),
    FakeFcm.start(),
    FakeHttpServer.start(() => ({ status: 200 })),
  ]);
  folder = await mkdtemp(path.join(os.tmpdir(), 'tribina-fcm-'));
  const account = path.join(folder, 'service-account.json');
  await writeFile(account, JSON.stringify(fcm.account));
  worker = await runWorker({
    NODE_ENV: 'production',
    RATE_LIMIT_IP_PER_MINUTE: '1000000',
    PUBLIC_URL: 'https://api.hns.hr',
    INTERNAL_AUTH_SECRET: secret,
    EMAIL_PROVIDER: 'mailgun',
    MAILGUN_API_BASE: mailgun.settings.base,
    MAILGUN_DOMAIN: mailgun.settings.domain,
    MAILGUN_API_KEY: mailgun.settings.apiKey,
    MAIL_FROM: mailgun.settings.from,
    PUSH_PROVIDER: 'fcm',
    FCM_API_BASE: fcm.url,
    FCM_SERVICE_ACCOUNT: account,
    ALERT_WEBHOOK_URL: `${alerts.url}/hook`,
    ALERT_EMAIL: 'ops@hns.hr',
    NOTIFICATION_RETRY_SECONDS: '0,0',
  });
  sql = new pg.Client({ connectionString: worker.databaseUrl });
  await sql.connect();
});

afterAll(async () => {
  await sql.end();
  await worker.close();
  await Promise.all([mailgun.close(), fcm.close(), alerts.close(), rm(folder, { recursive: true })]);
});

async function metric(line: string): Promise<number> {
  const { body } = await worker.get('/metrics');
  const found = body.split('\n').find((text) => text.startsWith(`${line} `));
  return found === undefined ? NaN : Number(found.split(' ').at(-1));
}

test('in production a mail is sent through Mailgun with text, HTML and files, and a push through FCM', async () => {
  await inState(await worker.publish('email', ticketMail({ recipient: 'ana@example.com' })), 'completed');
  await inState(await worker.publish('push-priority', turnPush({ fcm_tokens: ['phone'] })), 'completed');
  const [mail] = mailgun.arrived;
  expect(mail).toMatchObject({ to: 'ana@example.com', subject: 'Vaše ulaznice: Dinamo - Hajduk' });
  expect(mail?.text).toContain('https://api.hns.hr/tickets');
  expect(mail?.html).toContain('href="https://api.hns.hr/tickets"');
  const [pdf, qr] = mail?.attachments ?? [];
  expect([pdf?.contentType, pdf?.content.subarray(0, 5).toString(), pdf?.name]).toEqual([
    'application/pdf',
    '%PDF-',
    expect.stringMatching(/^ticket-[0-9A-F]{8}\.pdf$/) as string,
  ]);
  expect([qr?.inline, qr?.content]).toEqual([true, ticketQrPng('TRB1.full-code')]);
  expect(mail?.html).toContain(`src="cid:${qr?.name}"`);
  expect(mail?.messageId).toMatch(/^<[\w-]{36}@hns\.hr>$/);
  expect(fcm.arrived.map(({ token }) => token)).toEqual(['phone']);
  expect(await metric('notification_email_sent_total{template="ticket_delivery"}')).toBe(1);
  expect(await metric('notification_push_sent_total{template="queue_your_turn"}')).toBe(1);
});

test('in production the pages of the mailbox are 404', async () => {
  expect((await worker.get('/mailbox')).status).toBe(404);
  expect((await worker.get('/mailbox/')).status).toBe(404);
});

interface StoredAlert {
  readonly by: string;
  readonly about: string;
  readonly text: string;
}

async function storedAlerts(about: string): Promise<StoredAlert[]> {
  const { rows } = await sql.query<{ message: StoredAlert }>(
    `select message from jobs where class = 'alert_operators' and message ->> 'about' = $1 order by id`,
    [about],
  );
  return rows.map(({ message }) => message);
}

test('a dead letter raises an alert by webhook and by mail, without address, token or name', async () => {
  mailgun.next.push({ status: 400 });
  await inState(await worker.publish('email', ticketMail({ recipient: 'secret@example.com' })), 'failed');
  const stored = await eventually(async () => {
    const found = await storedAlerts('dead letter email ticket_delivery');
    return found.length > 0 && found;
  });
  expect(stored.map(({ by }) => by).sort()).toEqual(['mail', 'webhook']);
  expect(stored[0]?.text).toContain('ticket_delivery is in the dead letter: mailgun answered 400');
  expect(JSON.stringify(stored)).not.toMatch(/secret|example\.com|Horvat/);
});

test('an alert mail that becomes a dead letter raises an alert by webhook only', async () => {
  mailgun.next.push({ status: 400 });
  const payload = { about: 'x', text: 'y', at: new Date().toISOString(), locale: 'en' as const };
  await inState(await worker.publish('email', { ...ticketMail(), template: 'ops_alert', payload }), 'failed');
  const stored = await eventually(async () => {
    const found = await storedAlerts('dead letter email ops_alert');
    return found.length > 0 && found;
  });
  expect(stored.map(({ by }) => by)).toEqual(['webhook']);
});

test('a provider that goes down raises an alert, and its return raises a second alert', async () => {
  mailgun.always = { status: 503 };
  const mails = await Promise.all(Array.from({ length: 25 }, () => worker.publish('email', ticketMail())));
  await eventually(async () => (await storedAlerts('breaker mailgun opened')).length === 2);
  mailgun.always = undefined;
  await eventually(async () => (await storedAlerts('breaker mailgun closed')).length === 2, 20_000);
  for (const mail of mails) await inState(mail, 'completed', 20_000);
}, 60_000);

test('an alert that cannot be stored in the database is sent to the webhook directly', async () => {
  await sql.query('alter table jobs rename to gone');
  mailgun.next.push({ status: 400 });
  const mail = { ...ticketMail(), template: 'refund' as const };
  const payload = { order_id: 'ORD-1', match_name: 'Dinamo - Hajduk', total_amount: '1.00 EUR', locale: 'hr' as const };
  await inState(await worker.publish('email', { ...mail, payload }), 'failed');
  const alert = await eventually(() => Promise.resolve(alerts.requests.at(-1)));
  expect([alert.path, (JSON.parse(alert.body) as { alert: string }).alert]).toEqual(['/hook', 'dead letter email refund']);
  await sql.query('alter table gone rename to jobs');
});

test('the metric notification_push_oldest_unsent_seconds has a value for each template', async () => {
  fcm.always = fcmError(429, 'QUOTA_EXCEEDED', { retryAfter: 2 });
  const job = await worker.publish('push', turnPush({ template: 'queue_position', fcm_tokens: ['slow'] }));
  await eventually(async () => (await metric('notification_push_oldest_unsent_seconds{template="queue_position"}')) > 0.5);
  expect(await metric('notification_push_oldest_unsent_seconds{template="queue_your_turn"}')).toBe(0);
  fcm.always = undefined;
  await inState(job, 'completed');
  expect(await metric('notification_push_oldest_unsent_seconds{template="queue_position"}')).toBe(0);
  expect(await metric('notification_possible_duplicates_total{consumer="push"}')).toBe(0);
});

test('the worker is not ready while a queue has no consumer, and the answer of /health/ready names the queue', async () => {
  await eventually(async () => (await worker.get('/health/ready')).status === 200);
  await worker.redis.flush();
  const { status, body } = await worker.get('/health/ready');
  expect([status, JSON.parse(body)]).toEqual([
    503,
    { status: 'down', down: ['consumer of email', 'consumer of push', 'consumer of push-priority'] },
  ]);
  // The consumers are alive and write their heartbeats to Redis again within five seconds.
  await eventually(async () => (await worker.get('/health/ready')).status === 200);
});
