import type { HttpCallFailed } from '#platform/http-client/http-call-failed';
import { callHttp, isSuccess, jsonIn, type HttpAnswer, type HttpRequest } from '#platform/http-client/http-client';
import { z } from 'zod';
import { ProviderUnavailable, ProviderRefused } from './provider-errors.ts';

const TIMEOUT_MS = 10_000;
/** A payment intent has about 2 KB, so an answer of a megabyte does not come from Stripe. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** The parts of Stripe's error answer that we keep. We drop the message, because it may quote what we sent, even our secret key. */
const refusal = z.object({ error: z.object({ type: z.string().max(100), code: z.string().max(100).optional() }) });

interface Call<S extends z.ZodType> {
  readonly method: 'GET' | 'POST';
  /** The path after `/v1/`. */
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
  /** The idempotency key. Stripe repeats its answer to a key for at least 24 hours, also if it was an error. */
  readonly key?: string;
  readonly answer: S;
}

/**
 * Calls Stripe's documented HTTP API: forms in, JSON out. The client never retries a call: its caller decides whether to call
 * again.
 */
export class StripeClient {
  constructor(private readonly options: { base: string; secretKey: string; timeoutMs?: number }) {}

  async call<S extends z.ZodType>({ method, path, fields, key, answer: schema }: Call<S>): Promise<z.output<S>> {
    const form = new URLSearchParams(fields);
    const isGet = method === 'GET';
    const answer = await this.send({
      method,
      url: `${this.options.base}/v1/${path}${isGet && form.size > 0 ? `?${form.toString()}` : ''}`,
      headers: { authorization: `Bearer ${this.options.secretKey}`, ...(key ? { 'idempotency-key': key } : {}) },
      ...(isGet ? {} : { body: form }),
    });
    const { status } = answer;
    const summary = `${method} ${path.split('/')[0]}: ${status}`;
    if (isSuccess(answer)) {
      const parsed = schema.safeParse(jsonIn(answer));
      if (!parsed.success) throw new ProviderUnavailable(`${summary} with an answer that is not Stripe's`);
      return parsed.data;
    }
    const { type, code } = refusal.safeParse(jsonIn(answer)).data?.error ?? {};
    const reason = [summary, type, code].filter(Boolean).join(' ');
    if (status === 400 || status === 402 || status === 404) throw new ProviderRefused(reason, code, { status, type });
    // 401 and 403: our settings are wrong. 409: a call with the same key is running. 429 and 5xx: Stripe is busy or down. 3xx:
    // not Stripe.
    throw new ProviderUnavailable(reason, status >= 500 && answer.headers['idempotent-replayed'] === 'true');
  }

  private async send(request: Pick<HttpRequest, 'method' | 'url' | 'headers' | 'body'>): Promise<HttpAnswer> {
    const timeoutMs = this.options.timeoutMs ?? TIMEOUT_MS;
    return callHttp({ ...request, timeoutMs, limitBytes: MAX_ANSWER_BYTES }).catch((error: HttpCallFailed) => {
      throw new ProviderUnavailable(`no answer (${error.code})`, false, error);
    });
  }
}
