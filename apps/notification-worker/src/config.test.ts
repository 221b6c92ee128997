import { ConfigFaults, loadConfig } from '#platform/config/load-config';
import { workerConfig } from './config.ts';
import { MailboxController, mailboxPages } from './mailbox/mailbox.controller.ts';

const minimalSettings = { DATABASE_URL: 'postgres://127.0.0.1/tribina', REDIS_URL: 'redis://127.0.0.1:1' };

function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(workerConfig, env);
    return [];
  } catch (error) {
    if (error instanceof ConfigFaults) return error.faults;
    throw error;
  }
}

test('worker settings: only the addresses of PostgreSQL and Redis are required', () => {
  expect(loadConfig(workerConfig, minimalSettings)).toMatchObject({
    WORKER_PORT: 3002,
    EMAIL_PROVIDER: 'mailbox',
    PUSH_PROVIDER: 'mailbox',
    NOTIFICATION_RETRY_SECONDS: [30, 300],
  });
});

test('worker settings: one error reports all missing and invalid settings', () => {
  expect(faultsOf({ WORKER_PORT: 'many', NOTIFICATION_RETRY_SECONDS: '30', EMAIL_PROVIDER: 'pigeon' })).toHaveLength(5);
});

test.each([
  [{ EMAIL_PROVIDER: 'mailgun' }, ['MAILGUN_DOMAIN', 'MAILGUN_API_KEY']],
  [{ EMAIL_PROVIDER: 'smtp' }, ['SMTP_URL']],
  [{ EMAIL_PROVIDER: 'smtp', SMTP_URL: 'http://127.0.0.1' }, ['SMTP_URL']],
  [{ PUSH_PROVIDER: 'fcm' }, ['FCM_SERVICE_ACCOUNT']],
])('worker settings: with %o also %o is required', (env, missing) => {
  const faults = faultsOf({ ...minimalSettings, ...(env as Record<string, string>) }).map((fault) => fault.split(':')[0]);
  expect([...new Set(faults)]).toEqual(missing);
});

test.each([
  ['email', ['MAILGUN_DOMAIN', 'MAILGUN_API_KEY']],
  ['push', ['FCM_SERVICE_ACCOUNT']],
  ['all', ['MAILGUN_DOMAIN', 'MAILGUN_API_KEY', 'FCM_SERVICE_ACCOUNT']],
])('worker settings: with WORKER_QUEUES=%s only the credentials %o are required', (queues, missing) => {
  const env = { ...minimalSettings, WORKER_QUEUES: queues, EMAIL_PROVIDER: 'mailgun', PUSH_PROVIDER: 'fcm' };
  expect(faultsOf(env).map((fault) => fault.split(':')[0])).toEqual(missing);
});

test.each(['sms', 'EMAIL', 'email,push'])('worker settings: WORKER_QUEUES=%s is a fault', (queues) => {
  expect(faultsOf({ ...minimalSettings, WORKER_QUEUES: queues })).toEqual([expect.stringMatching(/^WORKER_QUEUES: /)]);
});

test('worker settings: production with real providers has no faults', () => {
  const providers = {
    NODE_ENV: 'production',
    EMAIL_PROVIDER: 'mailgun',
    MAILGUN_DOMAIN: 'mail.example.org',
    MAILGUN_API_KEY: 'key-0',
    PUSH_PROVIDER: 'fcm',
    FCM_SERVICE_ACCOUNT: '/run/fcm.json',
  };
  expect(faultsOf({ ...minimalSettings, ...providers })).toEqual([]);
});

test.each(['all', 'email', 'push'])('worker settings: with WORKER_QUEUES=%s production accepts PUSH_PROVIDER=none', (queues) => {
  const mails = { EMAIL_PROVIDER: 'smtp', SMTP_URL: 'smtp://mail.example.org' };
  expect(
    faultsOf({ ...minimalSettings, ...mails, NODE_ENV: 'production', WORKER_QUEUES: queues, PUSH_PROVIDER: 'none' }),
  ).toEqual([]);
});

test.each(['tickets', 'tickets@', 'Club <tickets>', 'a@b.hr, c@d.hr', 'Club <a@b.hr> <c@d.hr>', 'x\nBcc: a@b.hr'])(
  'worker settings: MAIL_FROM=%j is a fault, because it is not one address',
  (from) => {
    expect(faultsOf({ ...minimalSettings, MAIL_FROM: from })).toEqual([expect.stringMatching(/^MAIL_FROM: /)]);
  },
);

test.each(['tickets@hns.hr', 'HNS tickets <tickets@hns.hr>', '"Klub @ Split" <ulaznice@šport.hr>'])(
  'worker settings: MAIL_FROM=%j is accepted',
  (from) => {
    expect(faultsOf({ ...minimalSettings, MAIL_FROM: from })).toEqual([]);
  },
);

test('worker settings: production refuses the mailbox as provider', () => {
  expect(faultsOf({ ...minimalSettings, NODE_ENV: 'production' })).toEqual([
    'EMAIL_PROVIDER: mailbox is refused in production',
    'PUSH_PROVIDER: mailbox is refused in production',
  ]);
});

test('the mailbox has pages only if the mail or push provider is the mailbox', () => {
  expect(mailboxPages({ EMAIL_PROVIDER: 'smtp', PUSH_PROVIDER: 'fcm' })).toEqual([]);
  expect(mailboxPages({ EMAIL_PROVIDER: 'smtp', PUSH_PROVIDER: 'mailbox' })).toEqual([MailboxController]);
});
