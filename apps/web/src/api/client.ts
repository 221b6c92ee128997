import type { Caller, Role } from './caller.ts';
import { newKey, pendingKeys } from './idempotency-key.ts';
import { Problem, type ProblemCode, readProblem } from './problem.ts';
import { measureServerClock } from './server-clock.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One API request, before the headers of the caller are added. */
interface Call {
  method: Method;
  url: string;
  body?: unknown;
  headers?: Record<string, string>;
  role?: Role;
  signal?: AbortSignal;
}

/**
 * How long the client waits for the answer to a write: longer than the server's deadline of 55 s, so that the answer or refusal
 * arrives before the client gives up.
 */
const writeTimeoutMs = 60_000;
const readTimeoutMs = 20_000;
const maxNetworkAttempts = 4;
const firstBackoffMs = 500;

/**
 * For each error code: how many times the client repeats the request by itself. A repeated write has the same idempotency key.
 */
const maxResends: Partial<Record<ProblemCode, number>> = {
  SEATS_BUSY: 1,
  IDEMPOTENCY_KEY_IN_USE: 5,
  OUTCOME_UNKNOWN: 3,
  LOCK_TIMEOUT: 1,
};

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** HTTP client for JSON and problem+json. It adds the caller's headers and retries lost requests and retryable refusals. */
export class Client {
  constructor(private readonly caller: Caller) {}

  async get<T>(url: string, options: { role?: Role; signal?: AbortSignal } = {}): Promise<T> {
    const response = await this.sendWithRetries({ method: 'GET', url, ...options });
    return (await response.json()) as T;
  }

  /** Returns the value and its ETag. A later request can send the ETag as `since` to get only the changes. */
  async getWithEtag<T>(url: string, signal?: AbortSignal): Promise<{ value: T; etag: string | undefined }> {
    const response = await this.sendWithRetries({ method: 'GET', url, signal });
    // A compressing proxy puts W/ in front of the ETag. An ETag of another format was made by a proxy and is ignored.
    const etag = /^(?:W\/)?"([\w-]{27})"$/.exec(response.headers.get('ETag') ?? '')?.[1];
    return { value: (await response.json()) as T, etag };
  }

  async getBlob(url: string, signal?: AbortSignal): Promise<Blob> {
    return (await this.sendWithRetries({ method: 'GET', url, signal, headers: { Accept: '*/*' } })).blob();
  }

  async delete(url: string, options: { role?: Role } = {}): Promise<void> {
    await this.sendWithRetries({ method: 'DELETE', url, ...options });
  }

  /** Sends a POST that is idempotent without a key: joining the line, and looking up an invitation. */
  async post<T>(url: string, body: unknown, signal?: AbortSignal): Promise<T> {
    return (await (await this.sendWithRetries({ method: 'POST', url, body, signal })).json()) as T;
  }

  /**
   * Sends a CSV file. Attempts of one call have the same Idempotency-Key. Another call has another key, because a file is too large to
   * be kept with its key: the API must recognise repeated rows itself.
   */
  async postCsv<T>(url: string, csv: string, role: Role): Promise<T> {
    const body = new Blob([csv], { type: 'text/csv' });
    const response = await this.sendWithRetries({ method: 'POST', url, body, role, headers: { 'Idempotency-Key': newKey() } });
    return (await response.json()) as T;
  }

  /**
   * Sends a request with an Idempotency-Key, so that it takes effect once, even if its answer is lost and the fan sends it again.
   */
  async postOnce<T>(
    method: 'POST' | 'PUT' | 'PATCH',
    url: string,
    body: unknown,
    options: { headers?: Record<string, string>; role?: Role } = {},
  ): Promise<T> {
    const request = `${this.caller.fanId} ${method} ${url} ${JSON.stringify(body)}`;
    const headers = { ...options.headers, 'Idempotency-Key': pendingKeys.keyFor(request) };
    try {
      const response = await this.sendWithRetries({ ...options, method, url, body, headers });
      const answer = (response.status === 204 ? undefined : await response.json()) as T;
      pendingKeys.settle(request);
      return answer;
    } catch (error) {
      // A 4xx answer is final, so the idempotency key is forgotten. IDEMPOTENCY_KEY_IN_USE is the exception, because the first
      // request with this key still runs. Without an answer, and after a 5xx or an incomplete answer, the key is kept too.
      if (error instanceof Problem && error.status >= 400 && error.status < 500) {
        if (error.code !== 'IDEMPOTENCY_KEY_IN_USE') pendingKeys.settle(request);
      }
      throw error instanceof Problem ? error : new Problem('UNREACHABLE', 0);
    }
  }

  private async sendWithRetries(call: Call): Promise<Response> {
    const resends: Partial<Record<ProblemCode, number>> = {};
    for (let failures = 0; ;) {
      try {
        return await this.sendOnce(call);
      } catch (error) {
        if (call.signal?.aborted) throw error;
        if (!(error instanceof Problem)) throw error;
        if (error.code === 'UNREACHABLE') {
          failures += 1;
          if (failures >= maxNetworkAttempts) throw error;
          await sleep(Math.random() * firstBackoffMs * 2 ** failures);
          continue;
        }
        const resendCount = (resends[error.code] ?? 0) + 1;
        if (resendCount > (maxResends[error.code] ?? 0)) throw error;
        resends[error.code] = resendCount;
        await sleep(1000 * (error.retryAfterSeconds ?? 1) + Math.random() * 250);
      }
    }
  }

  private async sendOnce(call: Call): Promise<Response> {
    const headers: Record<string, string> = { Accept: 'application/json', ...this.caller.headers(call.role), ...call.headers };
    const isJson = call.body !== undefined && !(call.body instanceof Blob);
    if (isJson) headers['Content-Type'] = 'application/json';
    const sentAt = Date.now();
    const timeout = AbortSignal.timeout(call.method === 'GET' ? readTimeoutMs : writeTimeoutMs);
    let response: Response;
    try {
      response = await fetch(call.url, {
        method: call.method,
        headers,
        body: call.body instanceof Blob ? call.body : isJson ? JSON.stringify(call.body) : undefined,
        signal: call.signal ? AbortSignal.any([call.signal, timeout]) : timeout,
      });
    } catch {
      throw new Problem('UNREACHABLE', 0);
    }
    measureServerClock(response, sentAt);
    if (!response.ok) throw await readProblem(response);
    return response;
  }
}
