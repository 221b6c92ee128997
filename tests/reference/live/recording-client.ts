import { sendOverSocket, type Call } from '../../bad-input/calls.ts';
import { newKey, type Service, type Services } from '../../bad-input/system.ts';
import type { LiveAnswer } from './documented-answers.ts';

/** The name of one of the two HTTP services. */
export type ServiceName = 'monolith' | 'queue';

/** An answer and the service that gave it. */
export interface RecordedAnswer extends LiveAnswer {
  readonly service: ServiceName;
  /** The parsed body of the request. Undefined if it had none, or one that is not JSON. */
  readonly request: unknown;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** The caller, idempotency key, headers and body of a request. */
export interface RequestOptions {
  /** User id of the caller. Without a user id the request has no caller. */
  readonly as?: string;
  readonly roles?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Idempotency key of the request. Null sends no key; by default a new key is sent. */
  readonly key?: string | null;
}

/** The parsed JSON of an answer, with the HTTP status added as the field `http`. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type ParsedAnswer = { readonly http: number } & Readonly<Record<string, any>>;

/** Calls the services over HTTP and records every answer. */
export class RecordingClient {
  readonly answers: RecordedAnswer[] = [];

  constructor(private readonly services: Services) {}

  async send(service: ServiceName, call: Call): Promise<RecordedAnswer> {
    const { outcome, headers, text } = await sendOverSocket(this.services[service] as Service, call);
    const path = call.url.split('?')[0] ?? '';
    const answer = {
      service,
      method: call.method,
      path,
      status: Number(outcome.slice(0, 3)),
      type: headers['content-type'],
      body: text,
      request: parsed(call.payload),
      headers,
    };
    this.answers.push(answer);
    return answer;
  }

  async request(service: ServiceName, method: string, path: string, options: RequestOptions = {}): Promise<ParsedAnswer> {
    const { as, roles, body, key = newKey(), headers } = options;
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

  /** Opens a stream, records its first chunk and closes it. */
  async readStreamStart(service: ServiceName, path: string): Promise<void> {
    const stop = new AbortController();
    const url = `http://127.0.0.1:${(this.services[service] as Service).port}${path}`;
    const response = await fetch(url, { signal: stop.signal });
    const first = await response.body?.getReader().read();
    this.answers.push({
      service,
      method: 'GET',
      path,
      status: response.status,
      type: response.headers.get('content-type') ?? undefined,
      body: Buffer.from(first?.value ?? []).toString(),
      request: undefined,
      headers: Object.fromEntries(response.headers),
    });
    stop.abort();
  }
}

function parsed(payload: string | Buffer | undefined): unknown {
  try {
    return payload === undefined ? undefined : JSON.parse(payload.toString());
  } catch {
    return undefined;
  }
}
