import { jest } from '@jest/globals';
import { openBrowser } from '../testing/browser-storage.ts';
import { connect, problem, type Received } from '../testing/fake-network.ts';
import type { Caller } from './caller.ts';
import { Client } from './client.ts';
import { Problem } from './problem.ts';

const fan: Caller = { mode: 'mock', fanId: 'ana', signedIn: true, headers: () => ({ 'X-Mock-User-Id': 'ana' }) };
const url = '/api/v1/matches/1/reservations';
const wish = { quantity: 2 };

/** Holds seats as the monolith does: one hold for each key, and the same answer to the same key, refusals included. */
class SeatServer {
  readonly holds: string[] = [];
  free = true;
  private readonly answers = new Map<string, () => Response>();
  /** Answers that the server gives before it reads the idempotency key. */
  readonly refusals: Response[] = [];
  /** How many times the server answers OUTCOME_UNKNOWN although it has acted. */
  unknownOutcomes = 0;

  readonly answer = ({ headers }: Received): Response => {
    const key = headers.get('Idempotency-Key') ?? '';
    if (!/^[0-9a-f]{32}$/.test(key)) return problem(400, 'IDEMPOTENCY_KEY_REQUIRED');
    const refusal = this.refusals.shift();
    if (refusal) return refusal;
    const known = this.answers.get(key);
    if (known) return this.tell(known);
    if (this.free) this.holds.push(key);
    const id = `hold-${this.holds.length}`;
    const answer = this.free ? () => Response.json({ id }, { status: 201 }) : () => problem(409, 'SEATS_UNAVAILABLE');
    this.answers.set(key, answer);
    return this.tell(answer);
  };

  private tell(answer: () => Response): Response {
    if (this.unknownOutcomes === 0) return answer();
    this.unknownOutcomes -= 1;
    return problem(503, 'OUTCOME_UNKNOWN', { 'retry-after': '1' });
  }
}

let server: SeatServer;
let client: Client;

beforeEach(() => {
  openBrowser();
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  server = new SeatServer();
  client = new Client(fan);
});
afterEach(() => jest.useRealTimers());

/** Lets the pauses between tries pass. */
async function settled<T>(call: Promise<T>): Promise<T | Problem> {
  const outcome = call.catch((caught: Problem) => caught);
  await jest.advanceTimersByTimeAsync(60_000);
  return outcome;
}
const press = () => settled(client.postOnce<{ id: string }>('POST', url, wish));

test.each(['request', 'answer'] as const)('a lost %s: the call is sent again and takes effect once', async (loss) => {
  connect(server.answer, [loss]);
  expect(await press()).toEqual({ id: 'hold-1' });
  expect(server.holds).toHaveLength(1);
});

test('four lost answers: the fan is told; pressing again finds the first effect', async () => {
  connect(server.answer, ['answer', 'answer', 'answer', 'answer']);
  expect(await press()).toMatchObject({ code: 'UNREACHABLE' });
  expect(await press()).toEqual({ id: 'hold-1' });
  expect(server.holds).toHaveLength(1);
});

test('OUTCOME_UNKNOWN four times: the fan is told; pressing again finds the first effect', async () => {
  connect(server.answer);
  server.unknownOutcomes = 4;
  expect(await press()).toMatchObject({ code: 'OUTCOME_UNKNOWN', status: 503 });
  expect(await press()).toEqual({ id: 'hold-1' });
  expect(server.holds).toHaveLength(1);
});

test('an answer that breaks off half way keeps the key', async () => {
  connect((request) => {
    server.answer(request);
    return new Response('{"id":', { status: 201 });
  });
  expect(await press()).toMatchObject({ code: 'UNREACHABLE' });
  connect(server.answer);
  expect(await press()).toEqual({ id: 'hold-1' });
  expect(server.holds).toHaveLength(1);
});

test('a refusal settles the request: the same wish later is a new one and may succeed', async () => {
  connect(server.answer);
  server.free = false;
  expect(await press()).toMatchObject({ code: 'SEATS_UNAVAILABLE', status: 409 });
  server.free = true;
  expect(await press()).toEqual({ id: 'hold-1' });
});

test('a success settles the request: the same wish again is a second hold', async () => {
  connect(server.answer);
  expect([await press(), await press()]).toEqual([{ id: 'hold-1' }, { id: 'hold-2' }]);
});

test('IDEMPOTENCY_KEY_IN_USE keeps the key: the first execution is still running', async () => {
  connect(server.answer, ['answer', 'answer', 'answer', 'answer']);
  await press();
  for (let sent = 0; sent < 6; sent += 1) server.refusals.push(problem(409, 'IDEMPOTENCY_KEY_IN_USE'));
  expect(await press()).toMatchObject({ code: 'IDEMPOTENCY_KEY_IN_USE' });
  expect(await press()).toEqual({ id: 'hold-1' });
  expect(server.holds).toHaveLength(1);
});

test('LOCK_TIMEOUT is sent again by itself once, with the same key', async () => {
  connect(server.answer);
  server.refusals.push(problem(503, 'LOCK_TIMEOUT', { 'retry-after': '2' }));
  expect(await press()).toEqual({ id: 'hold-1' });
  server.refusals.push(problem(503, 'LOCK_TIMEOUT'), problem(503, 'LOCK_TIMEOUT'));
  expect(await press()).toMatchObject({ code: 'LOCK_TIMEOUT' });
});

test('another wish has another key', async () => {
  connect(server.answer, ['answer', 'answer', 'answer', 'answer']);
  await press();
  await settled(client.postOnce('POST', url, { quantity: 3 }));
  expect(new Set(server.holds).size).toBe(2);
});

test('a read whose answers are lost three times succeeds at the fourth try; a fourth loss is reported', async () => {
  const read = () => settled(client.get('/api/v1/matches'));
  const { losses } = connect(() => Response.json({ items: [] }), ['request', 'answer', 'request']);
  expect(await read()).toEqual({ items: [] });
  losses.push('request', 'request', 'request', 'request');
  expect(await read()).toMatchObject({ code: 'UNREACHABLE' });
});

test('a read that the page has given up is not sent again', async () => {
  let reads = 0;
  const stop = new AbortController();
  connect(() => {
    reads += 1;
    stop.abort();
    throw new TypeError('Failed to fetch');
  });
  expect(await settled(client.get('/api/v1/matches', { signal: stop.signal }))).toBeInstanceOf(Problem);
  expect(reads).toBe(1);
});

test('the tag of an answer is read, also behind a proxy that compresses; a foreign tag is none', async () => {
  const tag = 'x'.repeat(27);
  const tagged = async (etag: string) => {
    connect(() => Response.json({}, { headers: { etag } }));
    return (await client.getTagged('/seats')).tag;
  };
  expect([await tagged(`"${tag}"`), await tagged(`W/"${tag}"`), await tagged('"proxy-1"')]).toEqual([tag, tag, undefined]);
});
