import type { Logger } from '../logging/logger.ts';
import type { AlertNote } from './alert-notes.ts';
import { Alerts, type AlertOptions } from './alerts.ts';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

const quiet = { error: () => undefined } as unknown as Logger;
let stored: AlertNote[];
let isDatabaseAway: boolean;
let received: { text: string; alert: string; count: number }[];
let answerWith: number;
let server: http.Server;
let url: string;

beforeEach(async () => {
  stored = [];
  isDatabaseAway = false;
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
  add: (some) => (isDatabaseAway ? Promise.reject(new Error('no database')) : Promise.resolve(void stored.push(...some))),
  tellOnce: () => Promise.resolve(0),
};
const alertsOf = (options: Partial<AlertOptions> = {}): Alerts =>
  new Alerts(quiet, { ways: ['webhook', 'mail'], notes, retryMs: 5, ...options });
const untold = (): string[] => stored.filter(({ isTold }) => !isTold).map(({ way, about }) => `${way}: ${about}`);

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2));
}

test('an alert is noted for each way in which operators want to hear of it', async () => {
  const alerts = alertsOf();
  alerts.raise({ about: 'breaker mailgun opened', text: 'down' });
  alerts.raise({ about: 'dead letter email ops_alert', text: 'no mail', notBy: 'mail' });
  await alerts.settled();
  expect(untold()).toEqual([
    'webhook: breaker mailgun opened',
    'mail: breaker mailgun opened',
    'webhook: dead letter email ops_alert',
  ]);
});

test('ten thousand of the same kind are ten thousand notes: none is swallowed here', async () => {
  const alerts = alertsOf({ ways: ['mail'] });
  for (let dead = 0; dead < 10_000; dead += 1)
    alerts.raise({ about: 'dead letter', text: `job ${dead}`, subject: `email:${dead}:1` });
  await alerts.settled();
  expect(new Set(stored.map(({ subject }) => subject)).size).toBe(10_000);
});

test('without the database the webhook is called at once, and what was raised is noted as soon as the database is back', async () => {
  isDatabaseAway = true;
  const alerts = alertsOf({ webhookUrl: url });
  alerts.raise({ about: 'breaker fcm opened', text: 'down' });
  await until(() => received.length > 0);
  isDatabaseAway = false;
  await until(() => stored.length > 0);
  expect(received).toMatchObject([{ alert: 'breaker fcm opened', text: 'Tribina: down', count: 1 }]);
  // The mail is still to be written; the webhook has heard.
  expect(untold()).toEqual(['mail: breaker fcm opened']);
});

test('while the database stays away the webhook hears of one kind every half minute, and then everything since', async () => {
  let now = 0;
  isDatabaseAway = true;
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

test('a webhook that refuses while the database is away hears of it again', async () => {
  let now = 0;
  isDatabaseAway = true;
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

test('wanted by nobody, or with everything away, it disturbs nothing else', async () => {
  alertsOf({ ways: [] }).raise({ about: 'x', text: 'y' });
  isDatabaseAway = true;
  const away = alertsOf({ webhookUrl: 'http://127.0.0.1:1/' });
  away.raise({ about: 'x', text: 'y' });
  await away.settled();
  expect([stored, received]).toEqual([[], []]);
});
