import type { Caller } from './caller.ts';
import { pendingKeys } from './idempotency-key.ts';
import { Problem, type ProblemCode, readProblem } from './problem.ts';
import { learnServerTime } from './server-clock.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

interface Call {
  method: Method;
  url: string;
  body?: unknown;
  headers?: Record<string, string>;
  role?: 'ops';
  signal?: AbortSignal;
}

/** Longer than the server's own deadline of 55 s, so that its answer, also a refusal, arrives before we give up. */
const writeTimeoutMs = 60_000;
const readTimeoutMs = 20_000;
const networkTries = 4;
const firstPauseMs = 500;

/** Answers that invite the same request with the same key again, and how often we do it before asking the fan. */
const resends: Partial<Record<ProblemCode, number>> = {
  SEATS_BUSY: 1,
  IDEMPOTENCY_KEY_IN_USE: 5,
  OUTCOME_UNKNOWN: 3,
  LOCK_TIMEOUT: 1,
};

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Speaks JSON and problem+json, carries the caller, and repeats what may be repeated. */
export class Client {
  constructor(private readonly caller: Caller) {}

  async get<T>(url: string, options: { role?: 'ops'; signal?: AbortSignal } = {}): Promise<T> {
    const response = await this.untilAnswered({ method: 'GET', url, ...options });
    return (await response.json()) as T;
  }

  /** With the ETag's text, under which the server may know what was seen. */
  async getTagged<T>(url: string, signal?: AbortSignal): Promise<{ value: T; tag: string | undefined }> {
    const response = await this.untilAnswered({ method: 'GET', url, signal });
    // A proxy that compresses says W/ in front; one that writes tags of its own names nothing the server knows.
    const tag = /^(?:W\/)?"([\w-]{27})"$/.exec(response.headers.get('ETag') ?? '')?.[1];
    return { value: (await response.json()) as T, tag };
  }

  async getBlob(url: string, signal?: AbortSignal): Promise<Blob> {
    return (await this.untilAnswered({ method: 'GET', url, signal, headers: { Accept: '*/*' } })).blob();
  }

  async delete(url: string, options: { role?: 'ops' } = {}): Promise<void> {
    await this.untilAnswered({ method: 'DELETE', url, ...options });
  }

  /** A call the receiver repeats without harm by itself: joining the line. */
  async post<T>(url: string, body: unknown): Promise<T> {
    return (await (await this.untilAnswered({ method: 'POST', url, body })).json()) as T;
  }

  /** A call that carries an Idempotency-Key: whatever happens to the answer, it takes effect once. */
  async postOnce<T>(
    method: 'POST' | 'PUT',
    url: string,
    body: unknown,
    options: { headers?: Record<string, string>; role?: 'ops' } = {},
  ): Promise<T> {
    const request = `${this.caller.fanId} ${method} ${url} ${JSON.stringify(body)}`;
    const headers = { ...options.headers, 'Idempotency-Key': pendingKeys.keyFor(request) };
    try {
      const response = await this.untilAnswered({ ...options, method, url, body, headers });
      const answer = (response.status === 204 ? undefined : await response.json()) as T;
      pendingKeys.settle(request);
      return answer;
    } catch (caught) {
      // A refusal settles the request; silence and 5xx do not, nor does an answer that broke off half way.
      if (caught instanceof Problem && caught.status >= 400 && caught.status < 500) {
        if (caught.code !== 'IDEMPOTENCY_KEY_IN_USE') pendingKeys.settle(request);
      }
      throw caught instanceof Problem ? caught : new Problem('UNREACHABLE', 0);
    }
  }

  private async untilAnswered(call: Call): Promise<Response> {
    const sent: Partial<Record<ProblemCode, number>> = {};
    for (let failures = 0; ;) {
      try {
        return await this.once(call);
      } catch (caught) {
        if (call.signal?.aborted) throw caught;
        if (!(caught instanceof Problem)) throw caught;
        if (caught.code === 'UNREACHABLE') {
          failures += 1;
          if (failures >= networkTries) throw caught;
          await pause(Math.random() * firstPauseMs * 2 ** failures);
          continue;
        }
        const times = (sent[caught.code] ?? 0) + 1;
        if (times > (resends[caught.code] ?? 0)) throw caught;
        sent[caught.code] = times;
        await pause(1000 * (caught.retryAfterSeconds ?? 1) + Math.random() * 250);
      }
    }
  }

  private async once(call: Call): Promise<Response> {
    const headers: Record<string, string> = { Accept: 'application/json', ...this.caller.headers(call.role), ...call.headers };
    if (call.body !== undefined) headers['Content-Type'] = 'application/json';
    const sentAt = Date.now();
    const timeout = AbortSignal.timeout(call.method === 'GET' ? readTimeoutMs : writeTimeoutMs);
    let response: Response;
    try {
      response = await fetch(call.url, {
        method: call.method,
        headers,
        body: call.body === undefined ? undefined : JSON.stringify(call.body),
        signal: call.signal ? AbortSignal.any([call.signal, timeout]) : timeout,
      });
    } catch {
      throw new Problem('UNREACHABLE', 0);
    }
    learnServerTime(response, sentAt);
    if (!response.ok) throw await readProblem(response);
    return response;
  }
}
