import { ConfigFaults, loadConfig } from '#platform/config/load-config';
import { workerConfig } from './config.ts';
import { MailboxController } from './mailbox/mailbox.controller.ts';
import { MailboxModule } from './mailbox/mailbox.module.ts';

const least = { DATABASE_URL: 'postgres://127.0.0.1/tribina', REDIS_URL: 'redis://127.0.0.1:1' };

function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(workerConfig, env);
    return [];
  } catch (error) {
    if (error instanceof ConfigFaults) return error.faults;
    throw error;
  }
}

test('the addresses of PostgreSQL and Redis are enough', () => {
  expect(loadConfig(workerConfig, least)).toMatchObject({
    WORKER_PORT: 3002,
    EMAIL_PROVIDER: 'mailbox',
    PUSH_PROVIDER: 'mailbox',
    NOTIFICATION_RETRY_SECONDS: [30, 300],
  });
});

test('every fault is told at once', () => {
  expect(faultsOf({ WORKER_PORT: 'many', NOTIFICATION_RETRY_SECONDS: '30', EMAIL_PROVIDER: 'pigeon' })).toHaveLength(5);
});

test('a provider that is not built stops the start', () => {
  expect(faultsOf({ ...least, EMAIL_PROVIDER: 'smtp', SMTP_URL: 'smtp://127.0.0.1' })).toEqual([
    'EMAIL_PROVIDER: only mailbox is built in this version',
  ]);
});

test('production refuses the mailbox', () => {
  expect(faultsOf({ ...least, NODE_ENV: 'production' })).toEqual([
    'EMAIL_PROVIDER: mailbox is refused in production',
    'PUSH_PROVIDER: mailbox is refused in production',
  ]);
});

test('the mailbox has pages only where a provider is the mailbox', () => {
  const pages = (config: object) => MailboxModule.register({ config, database: undefined } as never).controllers;
  expect(pages({ EMAIL_PROVIDER: 'smtp', PUSH_PROVIDER: 'fcm' })).toEqual([]);
  expect(pages({ EMAIL_PROVIDER: 'smtp', PUSH_PROVIDER: 'mailbox' })).toEqual([MailboxController]);
});
