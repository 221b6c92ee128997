import { callHttp, isSuccess, type HttpAnswer, type HttpRequest } from '#platform/http-client/http-client';
import { RequestRefused } from '#platform/http/request-refused';
import { assertOutsideTransaction } from '#platform/postgres/open-transaction';
import { requestIdHeader } from '#platform/tracing/origin';

const TIMEOUT_MS = 3000;
const MAX_ANSWER_BYTES = 64 * 1024;

/** Makes the internal HTTP calls to the queue service. Of several secrets the first is sent (docs/runbooks). */
export class QueueServiceCalls {
  constructor(
    private readonly baseUrl: string,
    private readonly internalSecrets: readonly [string, ...string[]],
  ) {}

  /** Makes one call. Throws DEPENDENCY_UNAVAILABLE unless the answer is 2xx. */
  async call(method: HttpRequest['method'], path: string, body?: unknown): Promise<HttpAnswer> {
    const answer = await this.send(method, path, body).catch((error: unknown) => {
      throw new RequestRefused('DEPENDENCY_UNAVAILABLE', {
        detail: 'The waiting room does not answer; nothing was changed.',
        cause: error,
      });
    });
    if (isSuccess(answer)) return answer;
    const detail = `The waiting room answered ${answer.status}; nothing was changed.`;
    throw new RequestRefused('DEPENDENCY_UNAVAILABLE', { detail });
  }

  /** Makes one call and returns the answer, whatever its status. Rejects if there is no answer. */
  send(method: HttpRequest['method'], path: string, body?: unknown): Promise<HttpAnswer> {
    assertOutsideTransaction('a call to the waiting room');
    return callHttp({
      method,
      url: `${this.baseUrl}/api/v1/${path}`,
      headers: { 'x-internal-auth': this.internalSecrets[0], ...requestIdHeader() },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      timeoutMs: TIMEOUT_MS,
      limitBytes: MAX_ANSWER_BYTES,
    });
  }
}
