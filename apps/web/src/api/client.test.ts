import { jest } from '@jest/globals';
import { installFakeStorage } from '../testing/browser-storage.ts';
import { installFakeServer, problemResponse, type ReceivedRequest } from '../testing/fake-network.ts';
import type { Caller } from './caller.ts';
import { Client } from './client.ts';
import { Problem } from './problem.ts';

const fan: Caller = { mode: 'mock', fanId: 'ana', signedIn: true, roles: [], headers: () => ({ 'X-Mock-User-Id': 'ana' }) };
const url = '/api/v1/matches/1/reservations';
const holdRequest = { quantity: 2 };

/** A fake monolith that holds seats: one hold for each idempotency key, and the same answer (or refusal) to a repeated key. */
class SeatServer {
  readonly holds: string[] = [];
  hasFreeSeats = true;
  private readonly answers = new Map<string, () => Response>();
  /** Refusals that the server sends before it reads the idempotency key. */
  readonly refusals: Response[] = [];
  /** How many of the next answers are OUTCOME_UNKNOWN although the server has stored the hold. */
  outcomeUnknownAnswers = 0;

  readonly answer = ({ headers }: ReceivedRequest): Response => {
    const key = headers.get('Idempotency-Key') ?? '';
    if (!/^[0-9a-f]{32}$/.test(key)) return problemResponse(400, 'IDEMPOTENCY_KEY_REQUIRED');
    const refusal = this.refusals.shift();
    if (refusal) return refusal;
    const earlierAnswer = this.answers.get(key);
    if (earlierAnswer) return this.respond(earlierAnswer);
    if (this.hasFreeSeats) this.holds.push(key);
    const id = `hold-${this.holds.length}`;
    const answer = this.hasFreeSeats
      ? () => Response.json({ id }, { status: 201 })
      : () => problemResponse(409, 'SEATS_UNAVAILABLE');
    this.answers.set(key, answer);
    return this.respond(answer);
  };

  private respond(answer: () => Response): Response {
    if (this.outcomeUnknownAnswers === 0) return answer();
    this.outcomeUnknownAnswers -= 1;
    return problemResponse(503, 'OUTCOME_UNKNOWN', { 'retry-after': '1' });
  }
}

let server: SeatServer;
let client: Client;

beforeEach(() => {
  installFakeStorage();
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  server = new SeatServer();
  client = new Client(fan);
});
afterEach(() => jest.useRealTimers());

/** Advances the fake clock past all retry delays of the client. Returns the value of the call, or its error. */
async function runThroughRetries<T>(call: Promise<T>): Promise<T | Problem> {
  const outcome = call.catch((caught: Problem) => caught);
  await jest.advanceTimersByTimeAsync(60_000);
  return outcome;
}
const sendHold = () => runThroughRetries(client.postOnce<{ id: string }>('POST', url, holdRequest));

test.each(['request', 'answer'] as const)(
  'a POST whose %s is lost is sent again by the client and takes effect once',
  async (loss) => {
    installFakeServer(server.answer, [loss]);
    expect(await sendHold()).toEqual({ id: 'hold-1' });
    expect(server.holds).toHaveLength(1);
  },
);

test('a hold request whose answer is lost four times fails as UNREACHABLE; when the fan sends it again, it returns the first hold', async () => {
  installFakeServer(server.answer, ['answer', 'answer', 'answer', 'answer']);
  expect(await sendHold()).toMatchObject({ code: 'UNREACHABLE' });
  expect(await sendHold()).toEqual({ id: 'hold-1' });
  expect(server.holds).toHaveLength(1);
});

test('a hold request answered OUTCOME_UNKNOWN four times fails with that code; when the fan sends it again, it returns the first hold', async () => {
  installFakeServer(server.answer);
  server.outcomeUnknownAnswers = 4;
  expect(await sendHold()).toMatchObject({ code: 'OUTCOME_UNKNOWN', status: 503 });
  expect(await sendHold()).toEqual({ id: 'hold-1' });
  expect(server.holds).toHaveLength(1);
});

test('after an incomplete answer the same hold request keeps its idempotency key, so that it makes no second hold', async () => {
  installFakeServer((request) => {
    server.answer(request);
    return new Response('{"id":', { status: 201 });
  });
  expect(await sendHold()).toMatchObject({ code: 'UNREACHABLE' });
  installFakeServer(server.answer);
  expect(await sendHold()).toEqual({ id: 'hold-1' });
  expect(server.holds).toHaveLength(1);
});

test('after a refusal the same hold request gets a new idempotency key and may succeed', async () => {
  installFakeServer(server.answer);
  server.hasFreeSeats = false;
  expect(await sendHold()).toMatchObject({ code: 'SEATS_UNAVAILABLE', status: 409 });
  server.hasFreeSeats = true;
  expect(await sendHold()).toEqual({ id: 'hold-1' });
});

test('after a success the same hold request gets a new idempotency key and makes a second hold', async () => {
  installFakeServer(server.answer);
  expect([await sendHold(), await sendHold()]).toEqual([{ id: 'hold-1' }, { id: 'hold-2' }]);
});

test('after IDEMPOTENCY_KEY_IN_USE a request keeps its idempotency key, because its first execution still runs', async () => {
  installFakeServer(server.answer, ['answer', 'answer', 'answer', 'answer']);
  await sendHold();
  for (let sent = 0; sent < 6; sent += 1) server.refusals.push(problemResponse(409, 'IDEMPOTENCY_KEY_IN_USE'));
  expect(await sendHold()).toMatchObject({ code: 'IDEMPOTENCY_KEY_IN_USE' });
  expect(await sendHold()).toEqual({ id: 'hold-1' });
  expect(server.holds).toHaveLength(1);
});

test('after LOCK_TIMEOUT the client repeats the request once with the same idempotency key', async () => {
  installFakeServer(server.answer);
  server.refusals.push(problemResponse(503, 'LOCK_TIMEOUT', { 'retry-after': '2' }));
  expect(await sendHold()).toEqual({ id: 'hold-1' });
  server.refusals.push(problemResponse(503, 'LOCK_TIMEOUT'), problemResponse(503, 'LOCK_TIMEOUT'));
  expect(await sendHold()).toMatchObject({ code: 'LOCK_TIMEOUT' });
});

test('a different hold request has a different idempotency key', async () => {
  installFakeServer(server.answer, ['answer', 'answer', 'answer', 'answer']);
  await sendHold();
  await runThroughRetries(client.postOnce('POST', url, { quantity: 3 }));
  expect(new Set(server.holds).size).toBe(2);
});

test('a GET that is lost three times succeeds at the fourth attempt; a GET that is lost four times fails', async () => {
  const read = () => runThroughRetries(client.get('/api/v1/matches'));
  const { losses } = installFakeServer(() => Response.json({ items: [] }), ['request', 'answer', 'request']);
  expect(await read()).toEqual({ items: [] });
  losses.push('request', 'request', 'request', 'request');
  expect(await read()).toMatchObject({ code: 'UNREACHABLE' });
});

test('a GET that the page has aborted is not sent again', async () => {
  let reads = 0;
  const stop = new AbortController();
  installFakeServer(() => {
    reads += 1;
    stop.abort();
    throw new TypeError('Failed to fetch');
  });
  expect(await runThroughRetries(client.get('/api/v1/matches', { signal: stop.signal }))).toBeInstanceOf(Problem);
  expect(reads).toBe(1);
});

test('getWithEtag returns an ETag even if a compressing proxy has made it weak; an ETag of another format is ignored', async () => {
  const tag = 'x'.repeat(27);
  const readEtag = async (etag: string) => {
    installFakeServer(() => Response.json({}, { headers: { etag } }));
    return (await client.getWithEtag('/seats')).etag;
  };
  expect([await readEtag(`"${tag}"`), await readEtag(`W/"${tag}"`), await readEtag('"proxy-1"')]).toEqual([tag, tag, undefined]);
});
