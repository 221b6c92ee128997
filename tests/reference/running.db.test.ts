import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { RelayApi } from '../../apps/monolith/src/relay/relay.api.ts';
import { outboxDestinations } from '../../tools/docs/events.ts';
import { patternOf, platformKeys } from '../../tools/docs/redis-keys.ts';
import { waitingRoomKeys } from '../../tools/docs/waiting-room-keys.ts';
import { FAN, INTERNAL_SECRET, newKey, openServices, type Services } from '../bad-input/system.ts';
import { expectGenerated } from './generated.ts';
import { operationsOf, referencesOf, routeOf, type Document } from './openapi-document.ts';

// What only the running services can say: the description of their APIs, where their outbox leads, which keys they keep.

let system: Services;
beforeAll(async () => void (system = await openServices()));
afterAll(() => system.close());

async function documentOf(name: 'monolith' | 'queue'): Promise<Document> {
  const answer = await system[name].app.inject({ method: 'GET', url: '/openapi.json' });
  return answer.json<Document>();
}

test('the socket protocol: asyncapi.queue-service.json', async () => {
  const answer = await system.queue.app.inject({ method: 'GET', url: '/asyncapi.json' });
  expectGenerated('docs/reference/asyncapi.queue-service.json', `${JSON.stringify(answer.json(), null, 2)}\n`);
});

describe.each([
  ['monolith', 'openapi.monolith.json'],
  ['queue', 'openapi.queue-service.json'],
] as const)('the API of the %s', (name, file) => {
  test(file, async () => {
    expectGenerated(`docs/reference/${file}`, `${JSON.stringify(await documentOf(name), null, 2)}\n`);
  });

  test('is readable at /docs too', async () => {
    const page = await system[name].app.inject({ method: 'GET', url: '/docs' });
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, expect.stringContaining('text/html')]);
  });

  test('every route is documented, but for pages, health, metrics and the socket', async () => {
    const document = await documentOf(name);
    const routes = system[name].routes.filter(({ method, url }) => method !== 'HEAD' && /^\/(api|sse)\//.test(url));
    expect(operationsOf(document).map(routeOf).sort()).toEqual(routes.map(({ method, url }) => `${method} ${url}`).sort());
  });

  test('every reference leads somewhere, and not back to itself', async () => {
    const document = await documentOf(name);
    const { schemas } = document.components;
    const known = new Set(Object.keys(schemas).map((schema) => `#/components/schemas/${schema}`));
    const referred = referencesOf(document);
    expect(referred.filter((reference) => !known.has(reference))).toEqual([]);
    expect(
      Object.entries(schemas)
        .filter(([, schema]) => '$ref' in (schema as object))
        .map(([schema]) => schema),
    ).toEqual([]);
    expect([...known].filter((schema) => !referred.includes(schema))).toEqual([]);
  });

  test('every operation says what it answers, what it takes, and who may call it', async () => {
    const document = await documentOf(name);
    expect(document.openapi).toMatch(/^3\.1\./);
    const operations = operationsOf(document);
    const faults = operations.flatMap(({ path, method, operation }) => {
      const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
      const speechless = successes.filter(([status, { content }]) => (status === '204') === (content !== undefined));
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
      const declared = (operation.parameters ?? [])
        .filter((parameter) => parameter.in === 'path')
        .map((parameter) => parameter.name);
      const formless = (operation.parameters ?? [])
        .filter(({ schema }) => schema === undefined)
        .map((parameter) => parameter.name);
      return [
        ...(successes.length === 0 ? ['no success'] : []),
        ...speechless.map(([status]) => `${status} without a schema, or a 204 with one`),
        ...(operation.responses.default?.content?.['application/problem+json'] ? [] : ['no problem']),
        ...(operation.summary ? [] : ['no summary']),
        ...(operation.tags?.length === 1 ? [] : ['not in one chapter']),
        ...(operation.security === undefined ? ['no security'] : []),
        ...(JSON.stringify(inPath.sort()) === JSON.stringify(declared.sort()) ? [] : [`parameters ${declared.join()}`]),
        ...formless.map((parameter) => `${parameter} without a schema`),
        ...(['POST', 'PUT', 'PATCH'].includes(method) && !operation.requestBody && !WITHOUT_BODY.has(path) ? ['no body'] : []),
      ].map((fault) => `${method} ${path}: ${fault}`);
    });
    expect(faults).toEqual([]);
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('nothing of OpenAPI 3.0 that 3.1 no longer knows', async () => {
    const text = JSON.stringify(await documentOf(name));
    expect(text).not.toMatch(/"nullable":|"exclusive(Minimum|Maximum)":(true|false)|"x-may-be-left-out"|#\/\$defs/);
  });
});

/** Calls that take no body at all. */
const WITHOUT_BODY = new Set(['/api/v1/ops/jobs/{job_id}/retry']);

test('the outbox leads where events.md says', () => {
  const relays = system.monolith.app.get(RelayApi, { strict: false }).relays;
  expect(relays.map(({ destination }) => destination.name).sort()).toEqual(Object.keys(outboxDestinations).sort());
});

test('every key in Redis is one of redis-keys.md, of the type and with the end it says', async () => {
  await leaveTraces();
  const redis = new Redis(system.redisUrl);
  const documented = [...Object.values(waitingRoomKeys), ...platformKeys];
  const keys = await redis.keys('*');
  const wrong: string[] = [];
  for (const key of keys) {
    const found = documented.filter((row) => patternOf(row).test(key));
    const [type, life] = [await redis.type(key), await redis.ttl(key)];
    const fits = found.some(
      (row) => (row.type === 'several' || row.type === type) && (row.type === 'several' || ENDS.test(row.life) === life > 0),
    );
    // Who is admitted meanwhile leaves the line, and its key with it.
    if (!fits && type !== 'none')
      wrong.push(`${key} (${type}, ${life} s) among ${found.map((row) => row.key).join(', ') || 'none'}`);
  }
  await redis.quit();
  expect(wrong).toEqual([]);
  expect(keys.length).toBeGreaterThan(6);
});

/** Somebody in a line, somebody in a turn, somebody gone; and a call under a key. */
async function leaveTraces(): Promise<void> {
  const send = async (
    name: 'monolith' | 'queue',
    method: 'POST' | 'PUT' | 'DELETE',
    url: string,
    payload?: unknown,
  ): Promise<void> => {
    const headers = { 'x-mock-user-id': FAN, 'x-internal-auth': INTERNAL_SECRET, 'idempotency-key': newKey() };
    const answer = await system[name].app.inject({ method, url: `/api/v1${url}`, headers, payload: payload as object });
    expect(answer.statusCode).toBeLessThan(300);
  };
  for (const max_open_windows of [0, 5]) {
    const line = `/queue/${randomUUID()}`;
    await send('queue', 'PUT', `${line}/restore`, { complete: true });
    await send('queue', 'PUT', `${line}/control`, { status: 'active', max_open_windows });
    await send('queue', 'POST', `${line}/join`);
    if (max_open_windows === 0) await send('queue', 'DELETE', line);
  }
  const line = `/queue/${randomUUID()}`;
  await send('queue', 'PUT', `${line}/restore`, { complete: true });
  await send('queue', 'PUT', `${line}/control`, { status: 'active', max_open_windows: 0 });
  await send('queue', 'POST', `${line}/join`);
  await send('monolith', 'PUT', '/me', { email: null, name: 'Ana', locale: 'hr' });
}

/** A life in units of time, or in a setting that is one. */
const ENDS = /\d (s|h|min|days)\b|_SECONDS/;
