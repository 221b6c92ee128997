import { onTheWire, type Call } from '../../bad-input/calls.ts';
import { newKey, type Service, type Services } from '../../bad-input/system.ts';
import type { LiveAnswer } from './documented-answers.ts';

export type Name = 'monolith' | 'queue';

export interface HeardAnswer extends LiveAnswer {
  readonly service: Name;
}

export interface Wish {
  /** Who calls; nobody when left out. */
  readonly as?: string;
  readonly roles?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Null: none; a new one when left out. */
  readonly key?: string | null;
}

/** The JSON of an answer, with the status it came with. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Heard = { readonly http: number } & Readonly<Record<string, any>>;

/** Calls services over HTTP and keeps every answer. */
export class AnswerListener {
  readonly heard: HeardAnswer[] = [];

  constructor(private readonly services: Services) {}

  async send(service: Name, call: Call): Promise<HeardAnswer> {
    const { said, headers, text } = await onTheWire(this.services[service] as Service, call);
    const path = call.url.split('?')[0] ?? '';
    const answer = {
      service,
      method: call.method,
      path,
      status: Number(said.slice(0, 3)),
      type: headers['content-type'],
      body: text,
    };
    this.heard.push(answer);
    return answer;
  }

  async ask(service: Name, method: string, path: string, wish: Wish = {}): Promise<Heard> {
    const { as, roles, body, key = newKey(), headers } = wish;
    const answer = await this.send(service, {
      method,
      url: path.startsWith('/sse') ? path : `/api/v1${path}`,
      headers: {
        ...(as ? { 'x-mock-user-id': as } : {}),
        ...(roles ? { 'x-mock-roles': roles } : {}),
        ...(key && method !== 'GET' && method !== 'DELETE' ? { 'idempotency-key': key } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
    const isJson = answer.type?.includes('json') === true && answer.body !== '';
    return { ...(isJson ? (JSON.parse(answer.body) as object) : {}), http: answer.status };
  }

  /** A stream: what it says first, and then it is left. */
  async listen(service: Name, path: string): Promise<void> {
    const stop = new AbortController();
    const url = `http://127.0.0.1:${(this.services[service] as Service).port}${path}`;
    const response = await fetch(url, { signal: stop.signal });
    const first = await response.body?.getReader().read();
    this.heard.push({
      service,
      method: 'GET',
      path,
      status: response.status,
      type: response.headers.get('content-type') ?? undefined,
      body: Buffer.from(first?.value ?? []).toString(),
    });
    stop.abort();
  }
}
