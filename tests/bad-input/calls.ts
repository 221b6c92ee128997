import { randomUUID } from 'node:crypto';
import http from 'node:http';
import type { DeclaredRoute } from '#platform/http/route-table';
import type { Sample } from './samples.ts';
import { write } from './shapes.ts';
import { FAN, INTERNAL_SECRET, newKey, STAFF, type SampleIds, type Service } from './system.ts';

export interface Call {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly payload?: string | Buffer;
}

export interface Answer {
  /** `400 VALIDATION_FAILED`, or the status alone. */
  readonly said: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

function read(status: number, headers: http.IncomingHttpHeaders, text: string): Answer {
  const isProblem = String(headers['content-type']).startsWith('application/problem+json') && text !== '';
  return {
    said: isProblem ? `${status} ${String((JSON.parse(text) as { code: unknown }).code)}` : String(status),
    headers,
    text,
  };
}

/** Within the process: everything of a request but the socket. */
export async function inject({ app }: Service, { method, url, headers, payload }: Call): Promise<Answer> {
  const answer = await app.inject({ method: method as 'GET', url, headers: { ...headers }, payload });
  return read(answer.statusCode, answer.headers as http.IncomingHttpHeaders, answer.body);
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
export const hangUp = (): void => agent.destroy();

/** Over a socket, with the path as it is written here: `inject` and `fetch` would put it right. */
export function onTheWire({ port }: Service, { method, url, headers, payload }: Call): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, agent, method, path: url, headers: { ...headers } }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (text += part));
      response.on('end', () => resolve(read(response.statusCode ?? 0, response.headers, text)));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(payload);
  });
}

export function takesBody({ method, rules }: DeclaredRoute): boolean {
  return !['GET', 'HEAD', 'DELETE'].includes(method) && rules?.body === undefined;
}

export function needsKey(service: 'monolith' | 'queue', { method, rules }: DeclaredRoute): boolean {
  return (
    service === 'monolith' && ['POST', 'PUT', 'PATCH'].includes(method) && rules?.access !== 'internal' && !rules?.noKeyBecause
  );
}

/** Who each access is meant for. */
export const callers = {
  nobody: {},
  fan: { 'x-mock-user-id': FAN },
  operator: { 'x-mock-user-id': STAFF, 'x-mock-roles': 'ops' },
  steward: { 'x-mock-user-id': STAFF, 'x-mock-roles': 'gate' },
  'own service': { 'x-internal-auth': INTERNAL_SECRET },
} as const satisfies Record<string, Record<string, string>>;

const meantFor = {
  public: callers.nobody,
  fan: callers.fan,
  ops: callers.operator,
  gate: callers.steward,
  internal: callers['own service'],
} as const;

export function fill(url: string, values: Readonly<Record<string, string>>): string {
  return url.replaceAll(/:(\w+)/g, (_all, name: string) => values[name] ?? `:${name}`);
}

/** The route called as it should be. */
export function goodCall(route: DeclaredRoute, sample: Sample, at: SampleIds): Call {
  const body = sample.bodies?.[0];
  return {
    method: route.method,
    url: fill(route.url, sample.path?.(at) ?? {}),
    headers: {
      ...meantFor[route.rules?.access ?? 'public'],
      'idempotency-key': newKey(),
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { payload: write(body.good(at)) } : {}),
  };
}

/** A call that anybody may be let in with, because nothing comes of it: reads, bodies that are wrong, objects that never were. */
export function harmlessCall(route: DeclaredRoute, sample: Sample, at: SampleIds): Call {
  const call = goodCall(route, sample, at);
  if (['GET', 'HEAD'].includes(route.method)) return call;
  const payload = '{"no_such_field":1}';
  if (takesBody(route)) return { ...call, headers: { ...call.headers, 'content-type': 'application/json' }, payload };
  if (route.rules?.body === 'raw') return { ...call, payload };
  return { ...call, url: fill(route.url, nowhere(route.url)) };
}

export function nowhere(url: string): Record<string, string> {
  const one = (name: string): string => (/^(device|intent)_id$/.test(name) ? `no_${newKey()}` : randomUUID());
  return Object.fromEntries([...url.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, one(name)]));
}

/** Eight at a time, in order. */
export async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (const item of rest) await work(item);
    }),
  );
}
