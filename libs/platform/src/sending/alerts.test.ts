import type { Logger } from '../logging/logger.ts';
import { Alerts } from './alerts.ts';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

const quiet = { error: () => undefined } as unknown as Logger;
let received: { text: string; alert: string }[];
let server: http.Server;
let url: string;

beforeEach(async () => {
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

test('the same alert is told once a minute, and then how many were not', async () => {
  let now = 0;
  const alerts = new Alerts(quiet, url, () => now);
  for (let dead = 0; dead < 500; dead += 1) alerts.raise({ about: 'dead letter email refund', text: 'a refund mail' });
  alerts.raise({ about: 'breaker mailgun opened', text: 'down' });
  await alerts.settled();
  now = 60_001;
  alerts.raise({ about: 'dead letter email refund', text: 'a refund mail' });
  await alerts.settled();
  expect(received.map(({ text }) => text.replace('Tribina notification worker: ', ''))).toEqual([
    'a refund mail',
    'down',
    'a refund mail (and 499 more since the last alert)',
  ]);
});

test('without a webhook, or with one that is away, nothing else is disturbed', async () => {
  new Alerts(quiet, undefined).raise({ about: 'x', text: 'y' });
  const away = new Alerts(quiet, 'http://127.0.0.1:1/');
  away.raise({ about: 'x', text: 'y' });
  await away.settled();
  expect(received).toEqual([]);
});
