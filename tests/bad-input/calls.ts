import { randomUUID } from 'node:crypto';
import http from 'node:http';
import type { DeclaredRoute } from '#platform/http/route-table';
import type { Sample } from './samples.ts';
import { toJson } from './shapes.ts';
import { FAN_ID, INTERNAL_SECRET, newKey, PARTNER_ID, STAFF_ID, type SampleIds, type Service } from './system.ts';

/** One HTTP request that a test sends. */
export interface Call {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly payload?: string | Buffer;
}

/** The answer to one request. */
export interface Answer {
  /** Status and code, such as `400 VALIDATION_FAILED`; only the status if the answer is not problem+json. */
  readonly outcome: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

function toAnswer(status: number, headers: http.IncomingHttpHeaders, text: string): Answer {
  const isProblem = String(headers['content-type']).startsWith('application/problem+json') && text !== '';
  return {
    outcome: isProblem ? `${status} ${String((JSON.parse(text) as { code: unknown }).code)}` : String(status),
    headers,
    text,
  };
}

/** Sends the request inside this process, without a socket. */
export async function inject({ app }: Service, { method, url, headers, payload }: Call): Promise<Answer> {
  const answer = await app.inject({ method: method as 'GET', url, headers: { ...headers }, payload });
  return toAnswer(answer.statusCode, answer.headers as http.IncomingHttpHeaders, answer.body);
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
/** Closes the idle connections of sendOverSocket. */
export const closeSockets = (): void => agent.destroy();

/**
 * Sends the request over a socket with its path unchanged. `inject` and `fetch` would normalise the path. The service closes a
 * connection that was idle for 65 s; a request that meets this end is sent again on another connection.
 */
export function sendOverSocket(service: Service, call: Call): Promise<Answer> {
  const { method, url, headers, payload } = call;
  const { port } = service;
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, agent, method, path: url, headers: { ...headers } }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (text += part));
      response.on('end', () => resolve(toAnswer(response.statusCode ?? 0, response.headers, text)));
      response.on('error', reject);
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (request.reusedSocket && error.code === 'ECONNRESET') resolve(sendOverSocket(service, call));
      else reject(error);
    });
    request.end(payload);
  });
}

/** Whether the route expects a request body. */
export function takesBody({ method, rules }: DeclaredRoute): boolean {
  return !['GET', 'HEAD', 'DELETE'].includes(method) && rules?.body === undefined;
}

/** Whether the route requires an idempotency key. */
export function needsKey(service: 'monolith' | 'queue', { method, rules }: DeclaredRoute): boolean {
  return (
    service === 'monolith' && ['POST', 'PUT', 'PATCH'].includes(method) && rules?.access !== 'internal' && !rules?.noKeyBecause
  );
}

/** Headers that identify each kind of caller. */
export const callers = {
  'without identity': {},
  fan: { 'x-mock-user-id': FAN_ID },
  operator: { 'x-mock-user-id': STAFF_ID, 'x-mock-roles': 'ops' },
  partner: { 'x-mock-user-id': PARTNER_ID, 'x-mock-roles': 'partner' },
  steward: { 'x-mock-user-id': STAFF_ID, 'x-mock-roles': 'gate' },
  'own service': { 'x-internal-auth': INTERNAL_SECRET },
} as const satisfies Record<string, Record<string, string>>;

const callerWithAccess = {
  public: callers['without identity'],
  fan: callers.fan,
  ops: callers.operator,
  'ops:read': callers.operator,
  'ops:sale': callers.operator,
  'ops:money': callers.operator,
  'ops:lists': callers.operator,
  partner: callers.partner,
  gate: callers.steward,
  internal: callers['own service'],
} as const;

/** Replaces the path parameters such as `:id` by these values. Parameters without a value stay. */
export function fillPath(url: string, values: Readonly<Record<string, string>>): string {
  return url.replaceAll(/:(\w+)/g, (_all, name: string) => values[name] ?? `:${name}`);
}

/** A valid call of the route, by a caller with access. */
export function validCall(route: DeclaredRoute, sample: Sample, ids: SampleIds): Call {
  const body = sample.bodies?.[0];
  return {
    method: route.method,
    url: fillPath(route.url, sample.path?.(ids) ?? {}),
    headers: {
      ...callerWithAccess[route.rules?.access ?? 'public'],
      'idempotency-key': newKey(),
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { payload: toJson(body.valid(ids)) } : {}),
  };
}

/** A call of the route that changes no data even if it is allowed: a read, a body with an unknown field, or an id that does not exist. */
export function harmlessCall(route: DeclaredRoute, sample: Sample, ids: SampleIds): Call {
  const call = validCall(route, sample, ids);
  if (['GET', 'HEAD'].includes(route.method)) return call;
  const payload = '{"no_such_field":1}';
  if (takesBody(route)) return { ...call, headers: { ...call.headers, 'content-type': 'application/json' }, payload };
  if (route.rules?.body === 'raw') return { ...call, payload };
  return { ...call, url: fillPath(route.url, unknownIds(route.url)) };
}

/** Random values for the path parameters of a route. No object with such an id exists. */
export function unknownIds(url: string): Record<string, string> {
  const idFor = (name: string): string => (/^(device|intent)_id$/.test(name) ? `no_${newKey()}` : randomUUID());
  return Object.fromEntries([...url.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, idFor(name)]));
}

/** Runs `work` for all items, at most eight at a time, started in order. */
export async function forEachConcurrently<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (const item of queue) await work(item);
    }),
  );
}
