import type { AlertOperators } from '#domain/notification/alert-operators';
import type { Logger } from '../logging/logger.ts';
import { Alerts, type AlertOptions } from './alerts.ts';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

const quiet = { error: () => undefined } as unknown as Logger;
let kept: AlertOperators[];
let received: { text: string; alert: string }[];
let server: http.Server;
let url: string;

beforeEach(async () => {
  kept = [];
  received = [];
  server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      received.push(JSON.parse(body) as { text: string; alert: string });
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))));

const alertsOf = (options: Partial<AlertOptions> = {}): Alerts =>
  new Alerts(quiet, { ways: ['webhook', 'mail'], keep: (alerts) => Promise.resolve(void kept.push(...alerts)), ...options });

test('an alert is a job for each way in which operators want to hear of it', async () => {
  const alerts = alertsOf();
  alerts.raise({ about: 'breaker mailgun opened', text: 'down' });
  alerts.raise({ about: 'dead letter email ops_alert', text: 'no mail', notBy: 'mail' });
  await alerts.settled();
  expect(kept.map(({ by, about }) => `${by}: ${about}`)).toEqual([
    'webhook: breaker mailgun opened',
    'mail: breaker mailgun opened',
    'webhook: dead letter email ops_alert',
  ]);
});

test('the same alert is told once a minute, and then how many were not', async () => {
  let now = 0;
  const alerts = alertsOf({ ways: ['mail'], now: () => now });
  for (let dead = 0; dead < 500; dead += 1) alerts.raise({ about: 'dead letter email refund', text: 'a refund mail' });
  alerts.raise({ about: 'breaker mailgun opened', text: 'down' });
  await alerts.settled();
  now = 60_001;
  alerts.raise({ about: 'dead letter email refund', text: 'a refund mail' });
  await alerts.settled();
  expect(kept.map(({ text }) => text)).toEqual(['a refund mail', 'down', 'a refund mail (and 499 more since the last alert)']);
});

test('what cannot be kept calls the webhook at once', async () => {
  const alerts = alertsOf({ keep: () => Promise.reject(new Error('no database')), webhookUrl: url });
  alerts.raise({ about: 'breaker fcm opened', text: 'down' });
  await alerts.settled();
  expect(received).toMatchObject([{ alert: 'breaker fcm opened', text: 'Tribina: down' }]);
});

test('wanted by nobody, or with everything away, it disturbs nothing else', async () => {
  alertsOf({ ways: [] }).raise({ about: 'x', text: 'y' });
  const away = alertsOf({ keep: () => Promise.reject(new Error('no database')), webhookUrl: 'http://127.0.0.1:1/' });
  away.raise({ about: 'x', text: 'y' });
  await away.settled();
  expect([kept, received]).toEqual([[], []]);
});
