import path from 'node:path';
import { readSettings } from './settings.ts';

test('the default settings are the ports 3000 to 3002 and the folder .tribina', () => {
  const { home, services, urls, environment } = readSettings({});
  expect(path.basename(home)).toBe('.tribina');
  expect(services.map(({ port }) => port)).toEqual([3000, 3001, 3002]);
  expect(urls).toEqual({
    web: 'http://127.0.0.1:3000',
    docs: 'http://127.0.0.1:3000/docs',
    queue: 'http://127.0.0.1:3001',
    mailbox: 'http://127.0.0.1:3002/mailbox/',
  });
  expect(environment).toMatchObject({ MONOLITH_PORT: '3000', TRIBINA_HOME: home, QUEUE_INTERNAL_URL: 'http://127.0.0.1:3001' });
});

test('readSettings passes the environment variables of the caller to the services unchanged', () => {
  const env = {
    QUEUE_PORT: '4001',
    LOG_LEVEL: 'debug',
    QUEUE_INTERNAL_URL: 'http://queue.internal',
    PUBLIC_URL: 'https://tickets.example',
  };
  const { environment, urls } = readSettings(env);
  expect(environment).toMatchObject(env);
  expect([urls.web, urls.queue]).toEqual(['https://tickets.example', 'http://127.0.0.1:4001']);
});

test.each([
  ['0.0.0.0', 'http://127.0.0.1:3000'],
  ['192.0.2.7', 'http://192.0.2.7:3000'],
  ['::1', 'http://[::1]:3000'],
])('a service that listens on %s is reached from this machine at %s', (BIND_HOST, url) => {
  expect(readSettings({ BIND_HOST }).services[0]!.url).toBe(url);
});

test.each(['abc', '0', '65536', '3000.5', '-1'])('readSettings refuses %j as a port', (value) => {
  expect(() => readSettings({ QUEUE_PORT: value })).toThrow(expect.objectContaining({ exitCode: 78 }) as Error);
});

test('readSettings refuses the same port for two services', () => {
  expect(() => readSettings({ WORKER_PORT: '3001' })).toThrow('QUEUE_PORT and WORKER_PORT are both 3001.');
});
