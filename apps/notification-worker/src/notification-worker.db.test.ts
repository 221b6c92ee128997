import { scanQr } from '#testing/qr-reader';
import pg from 'pg';
import { ticketMail, turnPush } from './testing/jobs.ts';
import { eventually, inState, runWorker, type RunningWorker } from './testing/running-worker.ts';

let worker: RunningWorker;
let sql: pg.Client;

beforeAll(async () => {
  worker = await runWorker();
  sql = new pg.Client({ connectionString: worker.databaseUrl });
  await sql.connect();
});

afterAll(async () => {
  await sql.end();
  await worker.close();
});

async function metric(line: string): Promise<number> {
  const { body } = await worker.get('/metrics');
  const found = body.split('\n').find((text) => text.startsWith(`${line} `));
  return found === undefined ? NaN : Number(found.split(' ').at(-1));
}

describe('monitoring', () => {
  test('all metrics of the specification exist before any message was sent', async () => {
    const { body } = await worker.get('/metrics');
    for (const line of [
      'notification_email_sent_total{template="order_confirmation"} 0',
      'notification_email_failed_total{template="refund"} 0',
      'notification_email_queue_size 0',
      'notification_push_sent_total{template="queue_your_turn"} 0',
      'notification_push_latency_seconds_bucket{le="0.5"} 0',
      'notification_push_queue_size 0',
    ]) {
      expect(body.split('\n')).toContain(line);
    }
  });

  test('the worker is ready and live while PostgreSQL and Redis are up', async () => {
    expect(await worker.get('/health/ready')).toMatchObject({ status: 200 });
    expect(await worker.get('/health/live')).toMatchObject({ status: 200 });
  });
});

test('the worker serves its OpenAPI document and its API docs', async () => {
  const { status, body } = await worker.get('/openapi.json');
  const document = JSON.parse(body) as { openapi: string; paths: object };
  expect([status, document.openapi, Object.keys(document.paths)]).toEqual([200, '3.1.0', ['/mailbox']]);
  expect((await worker.get('/docs')).status).toBe(200);
});

describe('a mail', () => {
  test('becomes one entry of the mailbox, with the text of its template', async () => {
    const job = await worker.publish('email', ticketMail({ recipient: 'one@example.com' }));
    await inState(job, 'completed');
    const items = await worker.mailbox({ to: 'one@example.com' });
    expect(items).toEqual([
      {
        channel: 'email',
        to: 'one@example.com',
        user_id: null,
        template: 'ticket_delivery',
        subject: 'Vaše ulaznice: Dinamo - Hajduk',
        text: expect.stringContaining('http://127.0.0.1:3000/tickets') as string,
        attachments: [
          expect.stringMatching(/^ticket-[0-9A-F]{8}\.pdf$/) as string,
          expect.stringMatching(/^ticket-[0-9A-F]{8}\.png$/) as string,
        ],
        sent_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      },
    ]);
    expect(items[0]?.text).not.toContain('TRB1');
    expect(await metric('notification_email_sent_total{template="ticket_delivery"}')).toBe(1);
  });

  test('whose job is delivered twice, the second time after Redis has dropped the first job, is one entry of the mailbox', async () => {
    const message = ticketMail({ recipient: 'twice@example.com' });
    const first = await worker.publish('email', message);
    await inState(first, 'completed');
    await first.remove();
    const second = await worker.publish('email', message);
    await inState(second, 'completed');
    expect((await worker.queue('email').getJob(message.job_id))?.returnvalue).toBe('duplicate');
    expect(await worker.mailbox({ to: 'twice@example.com' })).toHaveLength(1);
  });

  test('whose job is delivered again after Redis lost all data is one entry of the mailbox', async () => {
    const message = ticketMail({ recipient: 'flushed@example.com' });
    await inState(await worker.publish('email', message), 'completed');
    await worker.redis.flush();
    const again = await worker.publish('email', message);
    await inState(again, 'completed');
    expect((await worker.queue('email').getJob(message.job_id))?.returnvalue).toBe('duplicate');
    expect(await worker.mailbox({ to: 'flushed@example.com' })).toHaveLength(1);
  });

  test.each([
    { fault: 'an unknown template', changes: { template: 'happy_birthday' }, label: 'unknown' },
    { fault: 'no recipient', changes: { recipient: undefined }, label: 'ticket_delivery' },
    { fault: 'an empty payload', changes: { payload: {} }, label: 'ticket_delivery' },
  ])('with $fault becomes a dead letter after one attempt', async ({ changes, label }) => {
    const failedTotal = `notification_email_failed_total{template="${label}"}`;
    const failedBefore = (await metric(failedTotal)) || 0;
    const job = await worker.publish('email', { ...ticketMail(), ...changes } as never);
    await inState(job, 'failed');
    const dead = await worker.queue('email').getJob(job.id ?? '');
    expect(dead).toMatchObject({ attemptsMade: 1, failedReason: expect.stringMatching(/^unreadable: /) as string });
    expect(dead?.failedReason).not.toContain('example.com');
    expect(await metric(failedTotal)).toBe(failedBefore + 1);
  });

  test('that cannot be sent is retried after 30 s and after 5 min, and then becomes a dead letter', async () => {
    const failedBefore = await metric('notification_email_failed_total{template="ticket_delivery"}');
    await sql.query('alter table mailbox_messages rename to gone');
    // This job is added without our job options: without a number of attempts and without backoff.
    const message = ticketMail({ recipient: 'late@example.com' });
    const job = await worker.queue('email').add('by hand', message, { jobId: message.job_id });
    const delays: number[] = [];
    for (let retry = 1; retry <= 2; retry += 1) {
      await inState(job, 'delayed');
      const delayed = await worker.queue('email').getJob(message.job_id);
      delays.push(delayed?.delay ?? 0);
      await delayed?.promote();
      await eventually(async () => (await worker.queue('email').getJob(message.job_id))?.attemptsMade === retry + 1);
    }
    await inState(job, 'failed');
    expect(delays).toEqual([30_000, 300_000]);
    expect(await metric('notification_email_failed_total{template="ticket_delivery"}')).toBe(failedBefore + 1);
    expect(await worker.queue('email').getFailedCount()).toBeGreaterThan(0);

    await sql.query('alter table gone rename to mailbox_messages');
    await (await worker.queue('email').getJob(message.job_id))?.retry();
    await inState(job, 'completed');
    expect(await worker.mailbox({ to: 'late@example.com' })).toHaveLength(1);
  });
});

describe('a push', () => {
  test('becomes one entry of the mailbox for each device, found by user id and by device token', async () => {
    const push = turnPush({ fcm_tokens: ['phone', 'tablet', 'phone'] });
    await inState(await worker.publish('push-priority', push), 'completed');
    const items = await worker.mailbox({ to: push.user_id, template: 'queue_your_turn' });
    expect(items.map(({ to }) => to).sort()).toEqual(['phone', 'tablet']);
    expect(await worker.mailbox({ to: 'tablet' })).toMatchObject([
      { channel: 'push', subject: 'Na redu ste', text: 'Imate 20 minuta.' },
    ]);
    expect(await metric('notification_push_sent_total{template="queue_your_turn"}')).toBe(2);
    expect(await metric('notification_push_latency_seconds_count')).toBe(1);
  });

  test('is dropped as expired after its `useful_until`, without a retry', async () => {
    const push = turnPush({ useful_until: new Date(Date.now() - 1000).toISOString() });
    await inState(await worker.publish('push-priority', push), 'completed');
    expect((await worker.queue('push-priority').getJob(push.job_id))?.returnvalue).toBe('expired');
    expect(await worker.mailbox({ to: push.user_id })).toEqual([]);
    expect(await metric('notification_push_expired_total{template="queue_your_turn"}')).toBe(1);
  });

  test('of the queue push-priority does not wait while the queue push is at its concurrency limit', async () => {
    const blocked = Array.from({ length: 20 }, () => turnPush({ template: 'queue_position', priority: 'normal' }));
    await sql.query('begin');
    for (const { job_id } of blocked) {
      await sql.query("insert into inbox (consumer, message_id, attempts) values ('push', $1, 1)", [job_id]);
    }
    const slow = await Promise.all(blocked.map((push) => worker.publish('push', push)));
    await eventually(async () => (await worker.queue('push').getActiveCount()) > 0);
    expect(await metric('notification_push_queue_size')).toBe(20);
    const urgent = turnPush();
    await inState(await worker.publish('push-priority', urgent), 'completed');
    expect(await worker.queue('push').getCompletedCount()).toBe(0);
    await sql.query('rollback');
    await Promise.all(slow.map((job) => inState(job, 'completed')));
    expect(await worker.mailbox({ to: urgent.user_id })).toHaveLength(1);
  });
});

describe('the mailbox', () => {
  test('shows the newest messages first, at most a hundred, and filters by template', async () => {
    await sql.query(`insert into mailbox_messages (channel, recipient, template, subject, text)
      select 'email', 'many@example.com', case when n > 100 then 'refund' else 'order_confirmation' end, n::text, '' from generate_series(1, 103) n`);
    const items = await worker.mailbox({ to: 'many@example.com' });
    expect([items.length, items[0]?.subject, items[99]?.subject]).toEqual([100, '103', '4']);
    expect(await worker.mailbox({ to: 'many@example.com', template: 'refund' })).toHaveLength(3);
  });

  test('has an HTML page', async () => {
    await sql.query(`insert into mailbox_messages (channel, recipient, template, subject, text)
      values ('email', 'page@example.com', 'refund', '<b>subject</b>', 'line one')`);
    const page = await worker.get('/mailbox/?to=page%40example.com&template=');
    expect(page).toMatchObject({ status: 200, type: 'text/html; charset=utf-8' });
    expect(page.body).toContain('&lt;b&gt;subject&lt;/b&gt;');
    expect(page.body.match(/<article>/g)).toHaveLength(1);
  });

  test('shows the QR code of each ticket in the HTML of a ticket mail; only images inside the HTML are allowed', async () => {
    await inState(await worker.publish('email', ticketMail({ recipient: 'qr@example.com' })), 'completed');
    const { body } = await worker.get('/mailbox/?to=qr%40example.com');
    const [, link] = /href="(html\/\d+)"/.exec(body) ?? [];
    const mail = await worker.app.inject({ method: 'GET', url: `/mailbox/${link}` });
    const images = [...mail.body.matchAll(/<img src="([^"]*)"/g)].map(([, source]) => source ?? '');
    expect(images.map((source) => scanQr(Buffer.from(source.replace('data:image/png;base64,', ''), 'base64')).text)).toEqual([
      'TRB1.full-code',
    ]);
    expect(mail.headers['content-security-policy']).toContain("default-src 'none'; style-src 'unsafe-inline'; img-src data:;");
  });

  test.each([
    ['/mailbox?to=%00', 400],
    ['/mailbox?to=a&to=b', 400],
    [`/mailbox?to=${'x'.repeat(4097)}`, 400],
    ['/mailbox/other', 404],
    ['/mailbox/a/b', 404],
    ['/mailbox?nonsense=1&template=none', 200],
    ['/mailbox/?to=%00', 400],
  ])('answers GET %s with status %i', async (url, status) => {
    expect((await worker.get(url)).status).toBe(status);
  });
});
