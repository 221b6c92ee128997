import { z } from 'zod';
import { ProviderAway, ProviderRefused } from './provider-errors.ts';

const TIMEOUT_MS = 10_000;
/** An intent has 2 KB; whoever sends a megabyte is not Stripe. */
const ANSWER_LIMIT_BYTES = 1024 * 1024;

/** Of a refusal only what is made for programs: the sentence for people may quote what we sent, our key included. */
const refusal = z.object({ error: z.object({ type: z.string().max(100), code: z.string().max(100).optional() }) });

interface Call<S extends z.ZodType> {
  readonly method: 'GET' | 'POST';
  /** Below `/v1/`. */
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
  /** Stripe answers the same key the same way for at least 24 hours, a failure included. */
  readonly key?: string;
  readonly answer: S;
}

/** Stripe's HTTP interface as documented: forms in, JSON out. One call, no repetition: who calls knows whether to. */
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
    const what = `${method} ${path.split('/')[0]}: ${status}`;
    if (status >= 200 && status < 300) {
      const parsed = answer.safeParse(asJson(text));
      if (!parsed.success) throw new ProviderAway(`${what} with an answer that is not Stripe's`);
      return parsed.data;
    }
    const { type, code } = refusal.safeParse(asJson(text)).data?.error ?? {};
    const reason = [what, type, code].filter(Boolean).join(' ');
    if (status === 400 || status === 402 || status === 404) throw new ProviderRefused(reason, code, { status, type });
    // 401 and 403 are our settings, 409 the same key still at work, 429 and 5xx Stripe's own trouble, 3xx not Stripe at all.
    throw new ProviderAway(reason, status >= 500 && replayed);
  }

  private async send(url: string, init: RequestInit): Promise<{ status: number; replayed: boolean; text: string }> {
    try {
      const signal = AbortSignal.timeout(this.options.timeoutMs ?? TIMEOUT_MS);
      const response = await fetch(url, { ...init, redirect: 'manual', signal });
      return {
        status: response.status,
        replayed: response.headers.get('idempotent-replayed') === 'true',
        text: await readAtMost(response, ANSWER_LIMIT_BYTES),
      };
    } catch (error) {
      if (error instanceof ProviderAway) throw error;
      throw new ProviderAway(`no answer (${reasonOf(error)})`, false, error);
    }
  }
}

async function readAtMost(response: Response, limit: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > limit) throw new ProviderAway(`an answer of more than ${limit} bytes`);
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

/** `fetch` hides what happened in the cause. */
function reasonOf(error: unknown): string {
  const { name, cause } = error as { name?: string; cause?: { code?: string } };
  return cause?.code ?? name ?? 'unknown';
}
