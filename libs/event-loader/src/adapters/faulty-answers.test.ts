import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { startSourceServer } from '../testing/source-server.ts';
import { eventsFrom, sourceNamed } from '../testing/sources.ts';
import { HttpEventFetcher } from './http-event-fetcher.ts';

// Faulty answers of a source (reliability.md §4.6). For each of them the fetch throws an EventFetchError, so the loader does not
// move its cursor.

type Answer = (response: ServerResponse, request: IncomingMessage) => void;
const page = (count: number): string => JSON.stringify({ events: eventsFrom(1, count) });

async function fetchFrom(answer: Answer, headers: Record<string, string> = {}) {
  const server = await startSourceServer((_url, response, request) => answer(response, request));
  const source = { ...sourceNamed('bad'), kind: 'http' as const, url: server.url, headers };
  try {
    return await new HttpEventFetcher({ timeoutMs: 400, bodyLimit: 256 * 1024 + 1000 }).fetch(source, undefined, 1000);
  } finally {
    await server.close();
  }
}

test.each<[string, Answer, string]>([
  ['HTTP 500', (response) => void response.writeHead(500).end(), 'SOURCE_FAILED'],
  ['HTTP 404', (response) => void response.writeHead(404).end('{}'), 'SOURCE_FAILED'],
  ['HTTP 401', (response) => void response.writeHead(401).end(), 'SOURCE_FORBIDDEN'],
  ['HTTP 403', (response) => void response.writeHead(403).end(), 'SOURCE_FORBIDDEN'],
  ['a redirect', (response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end(), 'SOURCE_REDIRECT'],
  ['no answer', () => undefined, 'SOURCE_TIMEOUT'],
  ['a connection reset', (_response, request) => request.socket.resetAndDestroy(), 'SOURCE_UNREACHABLE'],
  [
    'an incomplete answer',
    (response) => void (response.write('{"events":['), setTimeout(() => response.destroy(), 20)),
    'SOURCE_UNREACHABLE',
  ],
  ['an answer that is sent byte by byte for longer than the timeout', (response) => void drip(response), 'SOURCE_TIMEOUT'],
  ['an answer that is not JSON', (response) => void response.end('<html>'), 'SOURCE_BAD_FORMAT'],
  ['JSON without events', (response) => void response.end('{"items":[]}'), 'SOURCE_BAD_FORMAT'],
  ['JSON null', (response) => void response.end('null'), 'SOURCE_BAD_FORMAT'],
  [
    'an answer above the size limit',
    (response) => void response.end(`{"events":["${'x'.repeat(300 * 1024)}"]}`),
    'SOURCE_TOO_LARGE',
  ],
  [
    'a compression bomb',
    (response) => void sendCompressed(response, `{"events":["${'x'.repeat(257 * 1024)}"]}`),
    'SOURCE_TOO_LARGE',
  ],
  [
    'broken compression',
    (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip'),
    'SOURCE_UNREACHABLE',
  ],
  [
    'an unknown compression',
    (response) => void response.writeHead(200, { 'content-encoding': 'br' }).end('x'),
    'SOURCE_BAD_FORMAT',
  ],
])('%s: the fetch fails with the error code of this fault', async (_case, answer, code) => {
  await expect(fetchFrom(answer)).rejects.toMatchObject({ code });
});

function drip(response: ServerResponse): void {
  const dripping = setInterval(() => response.write(' '), 50);
  response.on('close', () => clearInterval(dripping));
}

function sendCompressed(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text));
}

test('a gzip answer is decompressed', async () => {
  expect((await fetchFrom((response) => sendCompressed(response, page(50)))).events).toHaveLength(50);
});

test('invalid events and an invalid digest do not affect the valid events', async () => {
  const events = [null, 7, [], 'x', {}, { id: 1 }, { payload: {} }, ...eventsFrom(2, 2)];
  const result = await fetchFrom((response) => void response.end(JSON.stringify({ events, digest: 'many' })));
  expect([result.events.map(({ id }) => id), result.bad.length, result.digest]).toEqual([['2', '3'], 7, undefined]);
});

test('of an answer with 100,001 entries only the first 10,000 are read, and hasMore is true', async () => {
  const result = await fetchFrom((response) => void response.end(`{"events":[${'1,'.repeat(100_000)}1]}`));
  expect([result.events.length, result.bad.length, result.hasMore]).toEqual([0, 10_000, true]);
});

test('a digest (the source’s own count of its events) is returned with the events', async () => {
  const answer = JSON.stringify({ events: eventsFrom(1, 2), digest: { up_to_id: 2, count: 3 } });
  expect((await fetchFrom((response) => void response.end(answer))).digest).toEqual({ upToId: '2', count: 3 });
});

test('the error of a failed fetch does not contain the values of the request headers', async () => {
  const error = await fetchFrom((response) => void response.writeHead(401).end(), { authorization: 'Bearer canary' }).catch(
    String,
  );
  expect(error).not.toContain('canary');
});
