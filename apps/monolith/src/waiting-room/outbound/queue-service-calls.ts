import { RequestRefused } from '#platform/http/request-refused';
import { assertOutsideTransaction } from '#platform/postgres/open-transaction';

const TIMEOUT_MS = 3000;

/** Makes the internal HTTP calls to the queue service. */
export class QueueServiceCalls {
  constructor(
    private readonly baseUrl: string,
    private readonly internalSecret: string,
  ) {}

  /** Makes one call. Throws DEPENDENCY_UNAVAILABLE unless the answer is 2xx. */
  async call(method: string, path: string, body?: unknown): Promise<Response> {
    const response = await this.send(method, path, body).catch((error: unknown) => {
      throw new RequestRefused('DEPENDENCY_UNAVAILABLE', {
        detail: 'The waiting room does not answer; nothing was changed.',
        cause: error,
      });
    });
    if (response.ok) return response;
    const detail = `The waiting room answered ${response.status}; nothing was changed.`;
    throw new RequestRefused('DEPENDENCY_UNAVAILABLE', { detail });
  }

  /** Makes one call and returns the answer, whatever its status. Rejects if there is no answer. */
  send(method: string, path: string, body?: unknown): Promise<Response> {
    assertOutsideTransaction('a call to the waiting room');
    return fetch(`${this.baseUrl}/api/v1/queue/${path}`, {
      method,
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { 'x-internal-auth': this.internalSecret, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }
}
