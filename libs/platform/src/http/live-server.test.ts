import { createTestHttpApp } from '#testing/test-http-app';
import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import net from 'node:net';
import { Endpoint } from './endpoint.ts';

const OPS = '0190a000-0000-7000-8000-00000000000a';
const DEADLINE_MS = 400;
let finish: () => void;
let handlerStarted: Promise<void>;
let markStarted: () => void;

@Controller()
class TestController {
  @Get('ops/wing')
  @Endpoint({ access: 'ops' })
  wing(): unknown {
    return { inside: true };
  }

  @Get('ops/wing/:room')
  @Endpoint({ access: 'ops' })
  room(@Param('room') room: string): unknown {
    return { inside: true, room };
  }

  @Get('slow')
  @Endpoint({ access: 'public' })
  async slow(): Promise<unknown> {
    markStarted();
    await new Promise<void>((resolve) => (finish = resolve));
    return { finished: true };
  }

  @Post('stuck')
  @Endpoint({ access: 'public', noKeyBecause: 'test' })
  async stuck(@Body() _body: unknown): Promise<unknown> {
    await new Promise<void>((resolve) => (finish = resolve));
    return { finished: true };
  }
}

let app: NestFastifyApplication;
let port: number;

beforeEach(async () => {
  handlerStarted = new Promise((resolve) => (markStarted = resolve));
  app = await createTestHttpApp({ controllers: [TestController] }, { requestDeadlineMs: DEADLINE_MS });
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.getHttpServer().address() as net.AddressInfo).port;
});
afterEach(() => app.close());

/** Sends `text` as raw bytes over a socket, because an HTTP client would correct it. Returns everything the server sent. */
async function sendText(text: string): Promise<string> {
  const socket = net.connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (bytes) => (answer += bytes.toString()));
  socket.on('error', () => undefined);
  socket.write(text);
  await new Promise((resolve) => socket.once('close', resolve));
  return answer;
}

const get = (path: string, headers = ''): Promise<string> =>
  sendText(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`);
const statusOf = (answer: string): number => Number(answer.split(' ')[1]);

/** Spellings of a path that have bypassed access checks in other systems. */
const trickyPaths = [
  ...[
    '/ops/wing',
    '/%6fps/wing',
    '/ops/%77ing',
    '/%6F%70%73/%77%69%6e%67',
    '//ops/wing',
    '/ops//wing',
    '/ops/wing/',
    '/ops/wing//',
  ],
  ...['/ops/wing;x', '/ops/wing;x=1', '/ops;x/wing', '/OPS/wing', '/Ops/Wing', '/ops/wing%2f', '/ops%2fwing', '/ops%2Fwing'],
  ...[
    '/./ops/wing',
    '/ops/./wing',
    '/x/../ops/wing',
    '/ops/%2e/wing',
    '/x/%2e%2e/ops/wing',
    '/ops/wing?x',
    '/ops/wing#x',
    '/ops/wing%3fx',
  ],
  ...[
    '/ops/wing%00',
    '/ops/wing%20',
    '/ops/wing%09',
    '/ops\\wing',
    '\\ops\\wing',
    '/ops/wing/..;/',
    '/ops/wing/1',
    '/ops/wing/%31',
    '/ops/wing/..',
  ],
  ...[
    '/ops/wing/%ff',
    '/ops/wing/%',
    '/%%36fps/wing',
    '/%256fps/wing',
    'http://x/ops/wing',
    'HTTP://x/ops/wing',
    'http://x//ops/wing',
  ],
  ...[
    'http://x?/ops/wing',
    '*',
    'ops/wing',
    '/ops/wing/%2e%2e',
    '/\u00e2\u0084\u00aaops/wing',
    '/public/../ops/wing',
    '/ops/wing\t',
  ],
];

test.each(trickyPaths)(
  'path %j without credentials never reaches the ops route and is answered 400, 401 or 404',
  async (path) => {
    const answer = await get(path);
    expect([400, 401, 404]).toContain(statusOf(answer));
    expect(answer).not.toContain('inside');
    expect(answer).toContain('application/problem+json');
  },
);

test('an operator reaches the ops routes by their normal paths', async () => {
  const headers = `X-Mock-User-Id: ${OPS}\r\nX-Mock-Roles: ops\r\n`;
  for (const path of ['/ops/wing', '/ops/wing/1', '/%6fps/wing']) expect(await get(path, headers)).toContain('"inside":true');
});

test.each([
  ['text that is not HTTP', 'hello\r\n\r\n', 400, 'VALIDATION_FAILED'],
  ['a malformed header', 'GET / HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n', 400, 'VALIDATION_FAILED'],
  [
    'two Content-Length headers',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    400,
    'VALIDATION_FAILED',
  ],
  [
    'Content-Length and chunked encoding',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
    'VALIDATION_FAILED',
  ],
  ['no Host header', 'GET / HTTP/1.1\r\n\r\n', 400, undefined],
  ['headers beyond 16 KB', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'HEADERS_TOO_LARGE'],
])('invalid HTTP (%s) is answered with an error, and the connection is closed', async (_what, text, status, code) => {
  const answer = await sendText(text);
  expect(statusOf(answer)).toBe(status);
  if (code) expect(answer).toMatch(new RegExp(`X-Request-Id: [\\w-]+\\r\\n[^]*"code":"${code}"`, 'i'));
});

test('slow clients: a client has 10 s to send the headers and 15 s for the whole request, checked every 5 s', () => {
  const server = app.getHttpServer() as unknown as Record<string | symbol, unknown>;
  expect(server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 15_000 });
  const interval = Object.getOwnPropertySymbols(server).find(
    (symbol) => symbol.description === 'http.server.connectionsCheckingInterval',
  );
  expect(interval && server[interval]).toMatchObject({ _idleTimeout: 5000 });
});

test('a write that runs longer than its deadline is answered OUTCOME_UNKNOWN, and its late result is discarded', async () => {
  const answer = await sendText('POST /stuck HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  expect(statusOf(answer)).toBe(503);
  expect(answer).toContain('OUTCOME_UNKNOWN');
  finish();
  expect(statusOf(await get('/ops/wing'))).toBe(401);
});

test('a write that exceeds its deadline is answered only once, even if sending the answer takes long', async () => {
  await app.close();
  let answers = 0;
  const afterAccess = (fastify: FastifyInstance): void => {
    // Delays every answer, like hooks that wait for Redis or PostgreSQL before an answer is sent.
    fastify.addHook('onSend', async (_request, _reply, payload) => {
      answers += 1;
      await new Promise((resolve) => setTimeout(resolve, 900));
      return payload;
    });
  };
  app = await createTestHttpApp({ controllers: [TestController] }, { requestDeadlineMs: DEADLINE_MS, afterAccess });
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.getHttpServer().address() as net.AddressInfo).port;
  const answer = await sendText('POST /stuck HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  expect([statusOf(answer), answers]).toEqual([503, 1]);
  finish();
});

test('a GET request has no deadline', async () => {
  const answer = get('/slow');
  await handlerStarted;
  await new Promise((resolve) => setTimeout(resolve, 1.5 * DEADLINE_MS));
  finish();
  expect(await answer).toContain('"finished":true');
});

test('while the server closes, running requests are finished and new connections are refused', async () => {
  const answer = get('/slow');
  await handlerStarted;
  const closed = app.close();
  await new Promise((resolve) => setTimeout(resolve, 50));
  await expect(get('/ops/wing')).resolves.toBe('');
  finish();
  expect(await answer).toContain('"finished":true');
  await closed;
});

test('closing the server does not wait for idle keep-alive connections', async () => {
  const idle = net.connect(port, '127.0.0.1');
  idle.write('GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n');
  await new Promise((resolve) => idle.once('data', resolve));
  const started = Date.now();
  const disconnected = new Promise((resolve) => idle.once('close', resolve));
  await app.close();
  await disconnected;
  expect(Date.now() - started).toBeLessThan(1000);
});

test('closing the server does not wait for connections that have sent no request or only a part of a request', async () => {
  const [silent, slow] = [net.connect(port, '127.0.0.1'), net.connect(port, '127.0.0.1')];
  slow.write('GET /now');
  const disconnected = Promise.all([silent, slow].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
  await new Promise((resolve) => setTimeout(resolve, 50));
  const started = Date.now();
  await app.close();
  await disconnected;
  expect(Date.now() - started).toBeLessThan(1000);
});
