import zlib from 'node:zlib';
import { createTestHttpApp } from '#testing/test-http-app';
import { Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SharedCompressions } from './compression.ts';
import { Endpoint } from './endpoint.ts';
import { sendCacheable, sendTagged } from './etag.ts';
import { EventStream } from './event-stream.ts';

const items = Array.from({ length: 200 }, (_, number) => ({ id: `seat-${number}`, status: 'available' }));
const seats = JSON.stringify({ version: 1, items });

@Controller()
class SeatsController {
  @Get('seats')
  @Endpoint({ access: 'public' })
  seats(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    sendTagged(request, reply, seats, 'tag-of-the-seats');
  }

  @Get('newer-seats')
  @Endpoint({ access: 'public' })
  newer(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    sendTagged(request, reply, seats.replace('"version":1', '"version":2'), 'tag-of-the-seats');
  }

  @Get('list')
  @Endpoint({ access: 'public' })
  list(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    sendCacheable(request, reply, { items });
  }

  @Get('small')
  @Endpoint({ access: 'public' })
  small(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    sendCacheable(request, reply, { items: items.slice(0, 3) });
  }

  @Get('unstorable')
  @Endpoint({ access: 'public' })
  unstorable(): unknown {
    return { token: 'secret', items };
  }

  @Get('orders')
  @Endpoint({ access: 'fan' })
  orders(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    sendCacheable(request, reply, { items });
  }

  @Post('lookup')
  @Endpoint({ access: 'public', status: 200, noKeyBecause: 'test' })
  lookup(): unknown {
    return { items };
  }

  @Get('stream')
  @Endpoint({ access: 'public' })
  stream(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const stream = EventStream.open(request, reply, () => undefined);
    stream?.send(seats);
    stream?.end();
  }
}

let app: NestFastifyApplication;
beforeAll(async () => (app = await createTestHttpApp({ controllers: [SeatsController] })));
afterAll(() => app.close());

type Options = { method?: 'GET' | 'HEAD' | 'POST'; headers?: Record<string, string> };
const call = (url: string, { method = 'GET', headers = {} }: Options = {}) => app.inject({ method, url, headers });
const accepting = (accepted: string, headers: Record<string, string> = {}): Options => ({
  headers: { 'accept-encoding': accepted, ...headers },
});

test.each([
  ['br', 'br'],
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['br;q=0.5, gzip', 'gzip'],
  ['BR', 'br'],
  ['*', 'br'],
  ['*;q=0, gzip', 'gzip'],
  ['br;q=0, gzip;q=0', undefined],
  ['identity, gzip;q=0.5', undefined],
  ['deflate', undefined],
  ['br;q=nonsense', undefined],
  ['', undefined],
])('a public read with Accept-Encoding "%s" has the encoding %s', async (accepted, encoding) => {
  const { headers, rawPayload } = await call('/seats', accepting(accepted));
  const decompress = { br: zlib.brotliDecompressSync, gzip: zlib.gunzipSync }[encoding ?? ''] ?? ((bytes: Buffer) => bytes);
  expect([headers['content-encoding'], decompress(rawPayload).toString()]).toEqual([encoding, seats]);
  expect(headers['content-length']).toBe(String(rawPayload.length));
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  if (encoding) expect(rawPayload.length).toBeLessThan(seats.length / 10);
});

test('a compressed answer varies by encoding, has a weak ETag, and is 304 for the ETag of each encoding', async () => {
  const compressed = await call('/seats', accepting('br'));
  const plain = await call('/seats');
  expect([compressed.headers.etag, plain.headers.etag]).toEqual(['W/"tag-of-the-seats"', '"tag-of-the-seats"']);
  for (const { headers } of [compressed, plain]) expect(headers.vary).toBe('Origin, Accept-Encoding');
  for (const known of [compressed.headers.etag!, plain.headers.etag!]) {
    const { statusCode, headers, body } = await call('/seats', accepting('br', { 'if-none-match': known }));
    expect([statusCode, body, headers['content-encoding']]).toEqual([304, '', undefined]);
    expect(headers).toMatchObject({ vary: 'Origin, Accept-Encoding', etag: 'W/"tag-of-the-seats"' });
  }
});

test('two answers with the same ETag and other content are both right: the cache of compressed answers is keyed by content', async () => {
  for (const [url, version] of [
    ['/seats', 1],
    ['/newer-seats', 2],
    ['/seats', 1],
  ] as const) {
    const { rawPayload } = await call(url, accepting('gzip'));
    expect(JSON.parse(zlib.gunzipSync(rawPayload).toString()).version).toBe(version);
  }
});

test.each([
  ['a small answer', '/small', 'GET'],
  ['an answer that no cache may store', '/unstorable', 'GET'],
  ['an answer for one fan', '/orders', 'GET'],
  ['the answer to a write', '/lookup', 'POST'],
  ['an event stream', '/stream', 'GET'],
  ['a refusal', `/${'x'.repeat(20)}`, 'GET'],
] as const)('%s is not compressed', async (_what, url, method) => {
  const headers = { 'accept-encoding': 'br, gzip', 'x-mock-user-id': '0190a000-0000-7000-8000-00000000000a' };
  const { rawPayload, headers: answered } = await call(url, { method, headers });
  expect(answered['content-encoding']).toBeUndefined();
  expect(rawPayload.toString()).toMatch(/"(items|version|status)"/);
});

test('HEAD has the headers of the plain answer and no body', async () => {
  const { headers, body } = await call('/seats', { method: 'HEAD', ...accepting('br') });
  expect(body).toBe('');
  expect(headers).toMatchObject({ 'content-length': String(seats.length), vary: 'Origin, Accept-Encoding' });
  expect(headers['content-encoding']).toBeUndefined();
});

/** Compressions that end when the test says so, and are counted. */
function countedCompressions() {
  const started: { text: string; end: (compressed: Buffer) => void; fail: (error: Error) => void }[] = [];
  const shared = new SharedCompressions((text) => new Promise((end, fail) => started.push({ text, end, fail })));
  return { started, shared };
}

test('a text is compressed once for all callers: for those who ask together, and for those who ask later', async () => {
  const { started, shared } = countedCompressions();
  const together = Array.from({ length: 1000 }, () => shared.get('version 1'));
  started[0]!.end(Buffer.from('compressed'));
  expect(new Set((await Promise.all(together.map((answer) => Promise.resolve(answer)))).map(String))).toEqual(
    new Set(['compressed']),
  );
  expect(shared.get(['version', '1'].join(' '))).toEqual(Buffer.from('compressed'));
  void shared.get('version 2');
  expect(started.map(({ text }) => text)).toEqual(['version 1', 'version 2']);
});

test('while four texts are being compressed, a fifth is sent as it is; a compression that failed is tried again', async () => {
  const { started, shared } = countedCompressions();
  const running = ['a', 'b', 'c', 'd'].map((text) => shared.get(text));
  expect(shared.get('e')).toBeUndefined();
  started[0]!.fail(new Error('no memory'));
  await expect(running[0]).rejects.toThrow('no memory');
  expect(shared.get('a')).toBeDefined();
  expect(started.map(({ text }) => text)).toEqual(['a', 'b', 'c', 'd', 'a']);
  for (const { end } of started.slice(1)) end(Buffer.from('compressed'));
});
