import type { Logger } from '#platform/logging/logger';
import type { AlertNote } from './alert-notes.ts';
import { Alerts, type AlertOptions } from './alerts.ts';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

const silent = { error: () => undefined } as unknown as Logger;
let stored: AlertNote[];
let isDatabaseDown: boolean;
let received: { text: string; alert: string; count: number }[];
let answerWith: number;
let server: http.Server;
let url: string;

beforeEach(async () => {
  stored = [];
  isDatabaseDown = false;
  received = [];
  answerWith = 200;
  server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      received.push(JSON.parse(body) as (typeof received)[number]);
      response.writeHead(answerWith).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))));

const notes: AlertOptions['notes'] = {
  add: (some) => (isDatabaseDown ? Promise.reject(new Error('no database')) : Promise.resolve(void stored.push(...some))),
  createDueAlerts: () => Promise.resolve(0),
};
const alertsOf = (options: Partial<AlertOptions> = {}): Alerts =>
  new Alerts(silent, { ways: ['webhook', 'mail'], notes, retryMs: 5, ...options });
const unreported = (): string[] => stored.filter(({ isReported }) => !isReported).map(({ way, about }) => `${way}: ${about}`);

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2));
}

test('for an alert one note is stored for each configured channel (webhook, mail), except the excluded channel', async () => {
  const alerts = alertsOf();
  alerts.raise({ about: 'breaker mailgun opened', text: 'down' });
  alerts.raise({ about: 'dead letter email ops_alert', text: 'no mail', excludedChannel: 'mail' });
  await alerts.settled();
  expect(unreported()).toEqual([
    'webhook: breaker mailgun opened',
    'mail: breaker mailgun opened',
    'webhook: dead letter email ops_alert',
  ]);
});

test('ten thousand alerts of the same kind are stored as ten thousand notes', async () => {
  const alerts = alertsOf({ ways: ['mail'] });
  for (let dead = 0; dead < 10_000; dead += 1)
    alerts.raise({ about: 'dead letter', text: `job ${dead}`, subject: `email:${dead}:1` });
  await alerts.settled();
  expect(new Set(stored.map(({ subject }) => subject)).size).toBe(10_000);
});

test('while the database is down the webhook is called directly, and the alert is stored when the database is back', async () => {
  isDatabaseDown = true;
  const alerts = alertsOf({ webhookUrl: url });
  alerts.raise({ about: 'breaker fcm opened', text: 'down' });
  await until(() => received.length > 0);
  isDatabaseDown = false;
  await until(() => stored.length > 0);
  expect(received).toMatchObject([{ alert: 'breaker fcm opened', text: 'Tribina: down', count: 1 }]);
  // Only the alert by mail is still needed, because the webhook has received the alert.
  expect(unreported()).toEqual(['mail: breaker fcm opened']);
});

test('while the database is down the webhook gets at most one call every 30 s for each kind of problem, with all alerts since the last call', async () => {
  let now = 0;
  isDatabaseDown = true;
  const alerts = alertsOf({ webhookUrl: url, now: () => now });
  alerts.raise({ about: 'dead letter', text: 'job 1' });
  await until(() => received.length === 1);
  alerts.raise({ about: 'dead letter', text: 'job 2' });
  now = 29_000;
  alerts.raise({ about: 'dead letter', text: 'job 3' });
  await alerts.settled();
  expect(received).toHaveLength(1);
  now = 31_000;
  await alerts.settled();
  expect(received.map(({ text }) => text)).toEqual(['Tribina: job 1', 'Tribina: 2 times: job 2; job 3']);
});

test('a webhook that refuses an alert while the database is down gets the same alert a second time', async () => {
  let now = 0;
  isDatabaseDown = true;
  answerWith = 503;
  const alerts = alertsOf({ webhookUrl: url, now: () => now });
  alerts.raise({ about: 'dead letter', text: 'job 1' });
  await until(() => received.length === 1);
  answerWith = 200;
  now = 31_000;
  await until(() => received.length === 2);
  expect(received.map(({ text }) => text)).toEqual(['Tribina: job 1', 'Tribina: job 1']);
  await alerts.settled();
});

test('raise does not throw when no alert channel is configured, or when database and webhook are both down', async () => {
  alertsOf({ ways: [] }).raise({ about: 'x', text: 'y' });
  isDatabaseDown = true;
  const alerts = alertsOf({ webhookUrl: 'http://127.0.0.1:1/' });
  alerts.raise({ about: 'x', text: 'y' });
  await alerts.settled();
  expect([stored, received]).toEqual([[], []]);
});
