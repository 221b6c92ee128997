import { failedAttempts } from '#messaging/jobs/failed-attempts';
import { createLogger } from '#platform/logging/logger';
import { scanQr } from '#testing/qr-reader';
import { FakeSmtpServer } from './testing/fake-smtp-server.ts';
import { ticketMail } from './testing/jobs.ts';
import { eventually, inState, runWorker, type RunningWorker } from './testing/running-worker.ts';

// The notification worker with EMAIL_PROVIDER=smtp and a fake mail server.

let peer: FakeSmtpServer;
let worker: RunningWorker;
const logLines: string[] = [];

beforeAll(async () => {
  peer = await FakeSmtpServer.start();
  const logger = createLogger({ service: 'test', level: 'warn', destination: { write: (line) => void logLines.push(line) } });
  const settings = {
    EMAIL_PROVIDER: 'smtp',
    SMTP_URL: peer.url,
    MAIL_FROM: 'HNS tickets <tickets@hns.hr>',
    NOTIFICATION_RETRY_SECONDS: '0,0',
  };
  worker = await runWorker(settings, undefined, logger);
});
afterAll(async () => {
  await worker.close();
  await peer.close();
});

interface LoggedFailure {
  readonly msg: string;
  readonly job_id: string;
  readonly err: { readonly message: string };
}

/**
 * Sends a mail to a server that answers RCPT with these replies. Returns the failed attempts that operators see, and the log lines
 * about the job, both from the first to the last.
 */
async function failuresAfter(...replies: readonly string[]): Promise<{ attempts: string[]; logged: string[] }> {
  peer.next.push(...replies.map((reply) => ({ at: 'RCPT', reply }) as const));
  const job = await worker.publish('email', ticketMail({ recipient: 'ana.horvat@example.com' }));
  await inState(job, 'failed');
  const stored = await worker.queue('email').getJob(job.id ?? '');
  const attempts = failedAttempts(stored?.stacktrace ?? null, stored?.failedReason).map(({ error }) => error);
  const linesOfJob = () => logLines.map((line) => JSON.parse(line) as LoggedFailure).filter(({ job_id }) => job_id === job.id);
  const lines = await eventually(() => Promise.resolve(linesOfJob().length === replies.length && linesOfJob()));
  return { attempts: attempts.reverse(), logged: lines.map(({ msg, err }) => `${msg}: ${err.message}`) };
}

test('a mail that the server refuses for good is a dead letter after one attempt; the attempt and the log line say why', async () => {
  const shown = 'smtp RCPT TO: 550 5.1.1 <•••>: no mailbox here';
  expect(await failuresAfter('550 5.1.1 <ana.horvat@example.com>: no mailbox here')).toEqual({
    attempts: [shown],
    logged: [`dead letter: ${shown}`],
  });
  expect(logLines.join()).not.toMatch(/ana\.horvat|example\.com|p@ss/);
});

test('a mail that the server refuses for now is sent three times; each attempt and each log line say why', async () => {
  const replies = ['450 4.2.0 greylisted', '452 4.2.2 mailbox full', '451 4.3.0 try later'];
  expect(await failuresAfter(...replies)).toEqual({
    attempts: replies.map((reply) => `smtp RCPT TO: ${reply}`),
    logged: [
      'job failed and will be retried: smtp RCPT TO: 450 4.2.0 greylisted',
      'job failed and will be retried: smtp RCPT TO: 452 4.2.2 mailbox full',
      'dead letter: smtp RCPT TO: 451 4.3.0 try later',
    ],
  });
});

test('a ticket mail brings the PDF and shows the QR code of the ticket', async () => {
  const mail = ticketMail({ recipient: 'ana.horvat@example.com' });
  await inState(await worker.publish('email', mail), 'completed');
  const [arrived] = peer.arrived;
  expect(arrived?.messageId).toBe(`<${mail.job_id}@hns.hr>`);
  const [pdf, qr] = arrived?.attachments ?? [];
  expect(pdf?.content.subarray(0, 5).toString()).toBe('%PDF-');
  expect(qr).toMatchObject({ inline: true, contentType: 'image/png' });
  expect(scanQr(qr?.content ?? Buffer.alloc(0)).text).toBe('TRB1.full-code');
  expect(arrived?.html).toContain(`<img src="cid:${qr?.name}"`);
});
