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

  async call<S extends z.ZodType>({ method, path, fields, key, answer }: Call<S>): Promise<z.output<S>> {
    const form = new URLSearchParams(fields).toString();
    const isGet = method === 'GET';
    const url = `${this.options.base}/v1/${path}${isGet && form ? `?${form}` : ''}`;
    const { status, replayed, text } = await this.send(url, {
      method,
      headers: {
        authorization: `Bearer ${this.options.secretKey}`,
        ...(isGet ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        ...(key ? { 'idempotency-key': key } : {}),
      },
      ...(isGet ? {} : { body: form }),
    });
    const summary = `${method} ${path.split('/')[0]}: ${status}`;
    if (status >= 200 && status < 300) {
      const parsed = answer.safeParse(asJson(text));
      if (!parsed.success) throw new ProviderUnavailable(`${summary} with an answer that is not Stripe's`);
      return parsed.data;
    }
    const { type, code } = refusal.safeParse(asJson(text)).data?.error ?? {};
    const reason = [summary, type, code].filter(Boolean).join(' ');
    if (status === 400 || status === 402 || status === 404) throw new ProviderRefused(reason, code, { status, type });
    // 401 and 403: our settings are wrong. 409: a call with the same key is running. 429 and 5xx: Stripe is busy or down. 3xx:
    // not Stripe.
    throw new ProviderUnavailable(reason, status >= 500 && replayed);
  }

  private async send(url: string, init: RequestInit): Promise<{ status: number; replayed: boolean; text: string }> {
    try {
      const signal = AbortSignal.timeout(this.options.timeoutMs ?? TIMEOUT_MS);
      const response = await fetch(url, { ...init, redirect: 'manual', signal });
      return {
        status: response.status,
        replayed: response.headers.get('idempotent-replayed') === 'true',
        text: await readAtMost(response, MAX_ANSWER_BYTES),
      };
    } catch (error) {
      if (error instanceof ProviderUnavailable) throw error;
      throw new ProviderUnavailable(`no answer (${reasonOf(error)})`, false, error);
    }
  }
}

async function readAtMost(response: Response, limit: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > limit) throw new ProviderUnavailable(`an answer of more than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `fetch` reports network errors in `cause`. */
function reasonOf(error: unknown): string {
  const { name, cause } = error as { name?: string; cause?: { code?: string } };
  return cause?.code ?? name ?? 'unknown';
}
