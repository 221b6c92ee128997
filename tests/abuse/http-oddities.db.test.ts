import net from 'node:net';
import { loadConfig } from '#platform/config/load-config';
import { silentLogger } from '#testing/test-http-app';
import { workerConfig } from '../../apps/notification-worker/src/config.ts';
import { createNotificationWorker } from '../../apps/notification-worker/src/notification-worker.ts';
import { openServices, type Services } from '../bad-input/system.ts';

// Attack: requests that a proxy and a service may read differently. They are sent as raw bytes to each HTTP service.

let services: Services;
let worker: Awaited<ReturnType<typeof createNotificationWorker>>;
const ports: Record<string, number> = {};

beforeAll(async () => {
  services = await openServices();
  const env = {
    DATABASE_URL: (services.dataSource.options as { url: string }).url,
    REDIS_URL: services.redisUrl,
    LOG_LEVEL: 'silent',
  };
  worker = await createNotificationWorker(loadConfig(workerConfig, env), silentLogger);
  await worker.app.listen({ host: '127.0.0.1', port: 0 });
  ports['notification worker'] = (worker.app.getHttpServer().address() as net.AddressInfo).port;
  ports.monolith = services.monolith.port;
  ports['queue service'] = services.queue.port;
}, 60_000);

afterAll(async () => {
  await worker.app.close();
  await services.close();
});

/** Sends raw bytes and returns all that the service answers until it closes the connection, or for a second. */
async function send(port: number, text: string): Promise<{ answer: string; isClosed: boolean }> {
  const socket = net.connect(port, '127.0.0.1');
  let answer = '';
  let isClosed = false;
  socket.on('data', (bytes) => (answer += bytes.toString()));
  socket.on('error', () => undefined);
  socket.write(text);
  await Promise.race([
    new Promise<void>((resolve) => socket.once('close', () => resolve(void (isClosed = true)))),
    new Promise((resolve) => setTimeout(resolve, 1000)),
  ]);
  socket.destroy();
  return { answer, isClosed };
}

const oddities: readonly [string, string][] = [
  ['two Host headers', 'GET /health/live HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\n\r\n'],
  ['the same Host header twice', 'GET /health/live HTTP/1.1\r\nHost: a.example\r\nhost: a.example\r\n\r\n'],
  ['two Host headers in HTTP/1.0', 'GET /health/live HTTP/1.0\r\nHost: a.example\r\nHost: b.example\r\n\r\n'],
  [
    'two Host headers of an upgrade',
    `GET /ws/x HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${'a'.repeat(22)}==\r\n\r\n`,
  ],
  ['no Host header in HTTP/1.1', 'GET /health/live HTTP/1.1\r\n\r\n'],
  ['HTTP/0.9 without a version', 'GET /health/live\r\n\r\n'],
  ['HTTP/0.9 with a version', 'GET /health/live HTTP/0.9\r\nHost: x\r\n\r\n'],
  ['HTTP/2.0 in a request line', 'GET /health/live HTTP/2.0\r\nHost: x\r\n\r\n'],
];
const names = ['monolith', 'queue service', 'notification worker'] as const;

test.each(names.flatMap((name) => oddities.map(([what, text]) => [name, what, text] as const)))(
  '%s: %s is answered 400 and the connection is closed',
  async (name, _what, text) => {
    const { answer, isClosed } = await send(ports[name]!, text);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('application/problem+json');
    expect(answer).toMatch(/x-request-id: [\w-]+/i);
    expect(answer).toContain('"code":"VALIDATION_FAILED"');
    expect(isClosed).toBe(true);
  },
);

test.each(names)('%s: one Host header in HTTP/1.1, and HTTP/1.0 without one, are answered 200', async (name) => {
  for (const text of ['GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 'GET /health/live HTTP/1.0\r\n\r\n']) {
    expect((await send(ports[name]!, text)).answer).toMatch(/^HTTP\/1\.1 200 /);
  }
});

test('queue service: an upgrade behind a request that is not answered yet does not end the process', async () => {
  const upgrade = `GET /ws/x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${'a'.repeat(22)}==\r\n\r\n`;
  await send(ports['queue service']!, `GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n${upgrade}`);
  expect((await send(ports['queue service']!, 'GET /health/live HTTP/1.0\r\n\r\n')).answer).toMatch(/^HTTP\/1\.1 200 /);
});
