import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { answering } from '../testing/answering.ts';
import { eventsFrom, sourceNamed } from '../testing/sources.ts';
import { HttpEventFetcher } from './http-event-fetcher.ts';

// reliability.md §4.6: what a source may do to us, and the answer we owe. Each of them leaves the cursor where it is.

type Answer = (response: ServerResponse, request: IncomingMessage) => void;
const page = (count: number): string => JSON.stringify({ events: eventsFrom(1, count) });

async function fetchFrom(answer: Answer, headers: Record<string, string> = {}) {
  const server = await answering((_url, response, request) => answer(response, request));
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
  ['a reset', (_response, request) => request.socket.resetAndDestroy(), 'SOURCE_UNREACHABLE'],
  [
    'a broken-off answer',
    (response) => void (response.write('{"events":['), setTimeout(() => response.destroy(), 20)),
    'SOURCE_UNREACHABLE',
  ],
  ['a byte now and then', (response) => void drip(response), 'SOURCE_TIMEOUT'],
  ['no JSON', (response) => void response.end('<html>'), 'SOURCE_BAD_FORMAT'],
  ['JSON without events', (response) => void response.end('{"items":[]}'), 'SOURCE_BAD_FORMAT'],
  ['null', (response) => void response.end('null'), 'SOURCE_BAD_FORMAT'],
  ['too much', (response) => void response.end(`{"events":["${'x'.repeat(300 * 1024)}"]}`), 'SOURCE_TOO_LARGE'],
  ['a compression bomb', (response) => void packed(response, `{"events":["${'x'.repeat(257 * 1024)}"]}`), 'SOURCE_TOO_LARGE'],
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
])('%s is an error of the source', async (_what, answer, code) => {
  await expect(fetchFrom(answer)).rejects.toMatchObject({ code });
});

function drip(response: ServerResponse): void {
  const dripping = setInterval(() => response.write(' '), 50);
  response.on('close', () => clearInterval(dripping));
}

function packed(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text));
}

test('a packed answer is unpacked', async () => {
  expect((await fetchFrom((response) => packed(response, page(50)))).events).toHaveLength(50);
});

test('events that are none do not spoil the others, nor does a digest that is none', async () => {
  const events = [null, 7, [], 'x', {}, { id: 1 }, { payload: {} }, ...eventsFrom(2, 2)];
  const read = await fetchFrom((response) => void response.end(JSON.stringify({ events, digest: 'many' })));
  expect([read.events.map(({ id }) => id), read.bad.length, read.digest]).toEqual([['2', '3'], 7, undefined]);
});

test('of an answer with a hundred thousand entries ten thousand are looked at: the rest comes again, or is junk', async () => {
  const read = await fetchFrom((response) => void response.end(`{"events":[${'1,'.repeat(100_000)}1]}`));
  expect([read.events.length, read.bad.length, read.hasMore]).toEqual([0, 10_000, true]);
});

test('what the source counts itself is passed on', async () => {
  const answer = JSON.stringify({ events: eventsFrom(1, 2), digest: { up_to_id: 2, count: 3 } });
  expect((await fetchFrom((response) => void response.end(answer))).digest).toEqual({ upToId: '2', count: 3 });
});

test('no error tells what is in the headers', async () => {
  const error = await fetchFrom((response) => void response.writeHead(401).end(), { authorization: 'Bearer canary' }).catch(
    String,
  );
  expect(error).not.toContain('canary');
});
