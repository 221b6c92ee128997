import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { createGzip, gzipSync } from 'node:zlib';
import { HttpCallFailed } from './http-call-failed.ts';
import { callHttp, isSuccess, jsonIn, type HttpRequest } from './http-client.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

const KB = 1024;
let server: http.Server;
let url: string;
let handle: Handler;
let arrived: { method: string; path: string; type: string | undefined; body: string }[];
let connections: number;

const portOf = (listening: net.Server): number => (listening.address() as AddressInfo).port;
const listen = (starting: net.Server) => new Promise<void>((resolve) => starting.listen(0, '127.0.0.1', resolve));

beforeEach(async () => {
  [arrived, connections] = [[], 0];
  server = http.createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    arrived.push({ method, path, type: headers['content-type'], body: await text(request) });
    await handle(request, response);
  });
  server.on('connection', () => (connections += 1));
  await listen(server);
  url = `http://127.0.0.1:${portOf(server)}/call`;
});
afterEach(() => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))));

const call = (more: Partial<HttpRequest> = {}) =>
  callHttp({ method: 'POST', url, body: '{}', timeoutMs: 3000, limitBytes: 64 * KB, ...more });
const failureOf = (more: Partial<HttpRequest> = {}): Promise<HttpCallFailed | undefined> =>
  call(more).then(
    () => undefined,
    (error: unknown) => error as HttpCallFailed,
  );
const answering =
  (status: number, body: string | Buffer, headers: Readonly<Record<string, string>> = {}): Handler =>
  (_request, response) =>
    response.writeHead(status, headers).end(body);

test('the answer has the status, the headers and the body, also when the status is an error', async () => {
  handle = answering(503, '{"a":1}', { 'retry-after': '7' });
  const answer = await call();
  expect([answer.status, answer.headers['retry-after'], answer.body]).toEqual([503, '7', '{"a":1}']);
  expect([jsonIn(answer), isSuccess(answer), isSuccess({ status: 204 })]).toEqual([{ a: 1 }, false, true]);
  expect(jsonIn({ body: '<html>' })).toBeUndefined();
});

test.each<[string, Partial<HttpRequest>, string | undefined, string]>([
  ['text', { body: '{"a":"č"}' }, 'application/json', '{"a":"č"}'],
  ['bytes', { body: Buffer.from('[1]') }, 'application/json', '[1]'],
  ['text with its own type', { body: 'a', headers: { 'content-type': 'text/plain' } }, 'text/plain', 'a'],
  ['a form', { body: new URLSearchParams({ a: 'b c' }) }, 'application/x-www-form-urlencoded', 'a=b+c'],
  ['no body', { body: undefined, method: 'DELETE' }, undefined, ''],
])('%s arrives with its content type', async (_case, request, type, body) => {
  handle = answering(200, '');
  await call(request);
  expect(arrived).toEqual([{ method: request.method ?? 'POST', path: '/call', type, body }]);
});

test('a form with a file arrives as multipart', async () => {
  handle = answering(200, '');
  const body = new FormData();
  body.append('file', new Blob(['content'], { type: 'application/pdf' }), 'ticket.pdf');
  await call({ body });
  const boundary = /^multipart\/form-data; boundary=(.+)$/.exec(arrived[0]?.type ?? '')?.[1] ?? 'none';
  expect(arrived[0]?.body.split(boundary)).toHaveLength(3);
  expect(arrived[0]?.body).toContain('filename="ticket.pdf"\r\nContent-Type: application/pdf\r\n\r\ncontent\r\n');
});

test('a redirect is not followed', async () => {
  handle = answering(307, '', { location: '/elsewhere' });
  expect((await call()).status).toBe(307);
  expect(arrived.map(({ path }) => path)).toEqual(['/call']);
});

describe('a call that certainly was not sent', () => {
  test('a server that refuses the connection', async () => {
    const closed = net.createServer();
    await listen(closed);
    const port = portOf(closed);
    await new Promise((resolve) => closed.close(resolve));
    expect(await failureOf({ url: `http://127.0.0.1:${port}` })).toMatchObject({ code: 'ECONNREFUSED', mayHaveArrived: false });
  });

  test('a TLS handshake that fails', async () => {
    const failure = await failureOf({ url: url.replace('http:', 'https:') });
    expect([failure?.mayHaveArrived, arrived]).toEqual([false, []]);
  });

  test('a timeout during the TLS handshake', async () => {
    const received: Buffer[] = [];
    const silent = net.createServer((socket) => socket.on('data', (bytes) => received.push(bytes)).on('error', () => undefined));
    await listen(silent);
    const failure = await failureOf({ url: `https://127.0.0.1:${portOf(silent)}`, body: 'canary', timeoutMs: 100 });
    await new Promise((resolve) => silent.close(resolve));
    expect([failure?.code, failure?.mayHaveArrived, Buffer.concat(received).includes('canary')]).toEqual([
      'timeout',
      false,
      false,
    ]);
  });

  test('an invalid URL or header, and the error does not contain its secret', async () => {
    const failures = [await failureOf({ url: 'canary' }), await failureOf({ headers: { authorization: 'canary\n' } })];
    expect(failures.map((failure) => [failure?.code, failure?.mayHaveArrived])).toEqual([
      ['ERR_INVALID_URL', false],
      ['ERR_INVALID_CHAR', false],
    ]);
    expect(JSON.stringify(failures.map((failure) => [{ ...failure }, failure?.stack, failure?.cause]))).not.toContain('canary');
  });
});

describe('a call that may have arrived', () => {
  test.each<[string, Handler, Partial<HttpRequest>, object]>([
    ['the connection is cut after the request', ({ socket }) => socket.destroy(), {}, { code: 'ECONNRESET', status: undefined }],
    ['there is no answer within the timeout', () => undefined, { timeoutMs: 100 }, { code: 'timeout', status: undefined }],
    ['the answer is slower than the timeout', drip, { timeoutMs: 300 }, { code: 'timeout', status: 200 }],
    ['the answer is cut', half(Buffer.from('{"a":1}'), {}), {}, { code: 'ECONNRESET', status: 200 }],
    ['a compressed answer is cut', half(gzipSync('{"a":1}'), gzip()), {}, { code: 'ECONNRESET', status: 200 }],
    ['the answer is larger than the limit', answering(413, 'x'.repeat(65 * KB)), {}, { code: 'too_large', status: 413 }],
    ['the decompressed answer is larger', zipped('x'.repeat(65 * KB)), {}, { code: 'too_large' }],
    [
      'the answer is compressed 100 : 1',
      zipped('x'.repeat(512 * KB)),
      { limitBytes: 1024 * KB },
      { code: 'compressed_too_much' },
    ],
    ['the compression is broken', answering(200, 'not gzip', gzip()), {}, { code: 'Z_DATA_ERROR' }],
    ['the compression is unknown', answering(200, 'x', { 'content-encoding': 'br' }), {}, { code: 'unknown_compression' }],
  ])('%s', async (_case, handler, request, failure) => {
    handle = handler;
    expect(await failureOf(request)).toMatchObject({ mayHaveArrived: true, ...failure });
  });
});

test.each<[string, Partial<HttpRequest>, Record<string, string>]>([
  ['fails', {}, {}],
  ['fails', {}, gzip()],
  ['is cut', { whenLarger: 'cut' }, {}],
  ['is cut', { whenLarger: 'cut' }, gzip()],
])('an endless answer %s at the limit, and its connection is closed: %j %j', async (_case, request, headers) => {
  let hasClosed: Promise<unknown> | undefined;
  handle = (_request, response) => {
    hasClosed = once(response, 'close');
    response.writeHead(200, headers);
    const bytes = headers['content-encoding'] ? Readable.from(endless()).pipe(createGzip()) : Readable.from(endless());
    pipeline(bytes, response, () => undefined);
  };
  const failure = await failureOf(request);
  expect(failure?.code).toBe(request.whenLarger === 'cut' ? undefined : 'too_large');
  await hasClosed;
});

test('a compressed answer is decompressed', async () => {
  handle = zipped('{"a":1}');
  expect((await call()).body).toBe('{"a":1}');
});

test('a body that is larger than the limit is cut if the caller says so', async () => {
  handle = (_request, response) => void (response.write('a'.repeat(KB)), setTimeout(() => response.end('b'.repeat(64 * KB)), 20));
  expect((await call({ whenLarger: 'cut' })).body).toMatch(/^a+b*$/);
  expect((await call({ whenLarger: 'cut' })).body.length).toBeLessThanOrEqual(64 * KB);
});

describe('kept connections', () => {
  test('calls one after another share a connection, and a call that hangs does not delay others', async () => {
    handle = answering(200, '{}');
    for (let n = 0; n < 5; n += 1) await call();
    expect(connections).toBe(1);
    handle = ({ url: path }, response) => path === '/call' && response.end();
    const hanging = Array.from({ length: 20 }, () => failureOf({ url: `${url}/hang`, timeoutMs: 400 }));
    expect((await call()).status).toBe(200);
    expect((await Promise.all(hanging)).map((failure) => failure?.code)).toEqual(Array.from(hanging, () => 'timeout'));
  });

  test('a request on a kept connection that the server closes is not sent twice, and the next call opens a new connection', async () => {
    handle = answering(200, '{}');
    await call();
    handle = ({ socket }) => socket.resetAndDestroy();
    expect(await failureOf()).toMatchObject({ code: 'ECONNRESET', mayHaveArrived: true });
    expect([connections, arrived.length]).toEqual([1, 2]);
    handle = answering(200, '{}');
    await call();
    expect([connections, arrived.length]).toEqual([2, 3]);
  });

  test('an unused connection is closed by us, one second before the time at which its server would close it', async () => {
    handle = answering(200, '{}', { connection: 'keep-alive', 'keep-alive': 'timeout=2' });
    await call();
    const keptSinceMs = performance.now();
    expect(await openConnections()).toBe(1);
    while ((await openConnections()) > 0) await pause(20);
    // Without the header it would be 4 seconds.
    expect(performance.now() - keptSinceMs).toBeLessThan(3500);
  });

  test('the timeout of unused connections does not apply to a call on a kept connection', async () => {
    handle = answering(200, '{}', { connection: 'keep-alive', 'keep-alive': 'timeout=2' });
    await call();
    handle = (_request, response) => setTimeout(() => response.end('late'), 1500);
    expect([(await call()).body, connections]).toEqual(['late', 1]);
  });
});

function openConnections(): Promise<number> {
  return new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
}

function gzip(): Record<string, string> {
  return { 'content-encoding': 'gzip' };
}

function zipped(body: string): Handler {
  return answering(200, gzipSync(body), gzip());
}

/** Sends the first half of the body and closes the connection. */
function half(body: Buffer, headers: Record<string, string>): Handler {
  return (_request, response) => {
    response.writeHead(200, { ...headers, 'content-length': body.length }).write(body.subarray(0, body.length / 2));
    setTimeout(() => response.destroy(), 20);
  };
}

/** Bytes that cannot be compressed. */
function* endless(): Generator<Buffer> {
  for (;;) yield randomBytes(4 * KB);
}

/** Sends a byte every 20 ms. */
function drip(_request: IncomingMessage, response: ServerResponse): void {
  const dripping = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(dripping));
}
