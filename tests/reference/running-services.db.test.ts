import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { SchedulerRegistry } from '@nestjs/schedule';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { monolithConfig } from '../../apps/monolith/src/config.ts';
import { workerConfig } from '../../apps/notification-worker/src/config.ts';
import { runWorker, type RunningWorker } from '../../apps/notification-worker/src/testing/running-worker.ts';
import { queueServiceConfig } from '../../apps/queue-service/src/config.ts';
import { RelayApi } from '../../apps/monolith/src/relay/relay.api.ts';
import { documentedDestinations } from '../../tools/docs/events.ts';
import { renderSchedule } from '../../tools/docs/schedule.ts';
import { FAN_ID, INTERNAL_SECRET, newKey, openServices, type Services } from '../bad-input/system.ts';
import { expectGenerated } from './generated.ts';
import { documentedRedisKeys, redisKeyPattern } from './redis-keys-page.ts';
import { operationsOf, referencesOf, routeOf, type OpenApiDocument } from './openapi-document.ts';

// Tests of reference pages that need running services: the OpenAPI documents, the destinations of the outbox, the periodic
// tasks, the keys in Redis.

let system: Services;
let worker: RunningWorker;
beforeAll(async () => {
  system = await openServices();
  worker = await runWorker();
});
afterAll(async () => {
  await worker.close();
  await system.close();
});

async function documentOf(name: 'monolith' | 'queue'): Promise<OpenApiDocument> {
  const answer = await system[name].app.inject({ method: 'GET', url: '/openapi.json' });
  return answer.json<OpenApiDocument>();
}

test('asyncapi.queue-service.json, the document of the WebSocket protocol, equals what the queue service serves', async () => {
  const answer = await system.queue.app.inject({ method: 'GET', url: '/asyncapi.json' });
  expectGenerated('docs/reference/asyncapi.queue-service.json', `${JSON.stringify(answer.json(), null, 2)}\n`);
});

test('/docs of the queue service links its AsyncAPI document, and /docs of the monolith those of the queue service', async () => {
  const shown = async (name: 'monolith' | 'queue') =>
    (await system[name].app.inject({ method: 'GET', url: '/docs/swagger-ui-init.js' })).body;
  const [queue, monolith] = [await shown('queue'), await shown('monolith')];
  expect(queue).toMatch(/"externalDocs": \{\s+"url": "http:\/\/127\.0\.0\.1:3001\/asyncapi\.json"/);
  expect(queue).toContain('[an AsyncAPI document](http://127.0.0.1:3001/asyncapi.json)');
  expect(monolith).toContain('(http://127.0.0.1:3001/docs)');
});

describe.each([
  ['monolith', 'openapi.monolith.json'],
  ['queue', 'openapi.queue-service.json'],
] as const)('the API of the %s', (name, file) => {
  test(`${file} equals the document that the service serves`, async () => {
    expectGenerated(`docs/reference/${file}`, `${JSON.stringify(await documentOf(name), null, 2)}\n`);
  });

  test('the service shows its OpenAPI document as HTML at /docs', async () => {
    const page = await system[name].app.inject({ method: 'GET', url: '/docs' });
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, expect.stringContaining('text/html')]);
  });

  test('the OpenAPI document lists exactly the routes below /api and /sse', async () => {
    const document = await documentOf(name);
    const routes = system[name].routes.filter(({ method, url }) => method !== 'HEAD' && /^\/(api|sse)\//.test(url));
    expect(operationsOf(document).map(routeOf).sort()).toEqual(routes.map(({ method, url }) => `${method} ${url}`).sort());
  });

  test('every $ref in the OpenAPI document has a target, every component is referenced, and no schema is only a $ref', async () => {
    const document = await documentOf(name);
    const { schemas, headers, examples } = document.components;
    const known = Object.entries({ schemas, headers, examples }).flatMap(([kind, parts]) =>
      Object.keys(parts).map((part) => `#/components/${kind}/${part}`),
    );
    const referred = new Set(referencesOf(document));
    expect([...referred].filter((reference) => !known.includes(reference))).toEqual([]);
    expect(
      Object.entries(schemas)
        .filter(([, schema]) => '$ref' in (schema as object))
        .map(([schema]) => schema),
    ).toEqual([]);
    expect(known.filter((part) => !referred.has(part))).toEqual([]);
  });

  test('every operation documents its answers, its body, its parameters and its access', async () => {
    const document = await documentOf(name);
    expect(document.openapi).toMatch(/^3\.1\./);
    const operations = operationsOf(document);
    const faults = operations.flatMap(({ path, method, operation }) => {
      const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
      const wrongContent = successes.filter(([status, { content }]) => (status === '204') === (content !== undefined));
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
      const declared = (operation.parameters ?? [])
        .filter((parameter) => parameter.in === 'path')
        .map((parameter) => parameter.name);
      const withoutSchema = (operation.parameters ?? [])
        .filter(({ schema }) => schema === undefined)
        .map((parameter) => parameter.name);
      return [
        ...(successes.length === 0 ? ['no success answer'] : []),
        ...wrongContent.map(([status]) => `${status} without a schema, or a 204 with one`),
        ...(operation.responses.default?.content?.['application/problem+json'] ? [] : ['no problem+json answer']),
        ...(operation.summary ? [] : ['no summary']),
        ...(operation.tags?.length === 1 ? [] : ['not exactly one tag']),
        ...(operation.security === undefined ? ['no security'] : []),
        ...(JSON.stringify(inPath.sort()) === JSON.stringify(declared.sort()) ? [] : [`parameters ${declared.join()}`]),
        ...withoutSchema.map((parameter) => `${parameter} without a schema`),
        ...(['POST', 'PUT', 'PATCH'].includes(method) && !operation.requestBody && !WITHOUT_BODY.has(path) ? ['no body'] : []),
      ].map((fault) => `${method} ${path}: ${fault}`);
    });
    expect(faults).toEqual([]);
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('the OpenAPI document uses no syntax of OpenAPI 3.0 that version 3.1 removed', async () => {
    const text = JSON.stringify(await documentOf(name));
    expect(text).not.toMatch(/"nullable":|"exclusive(Minimum|Maximum)":(true|false)|"x-may-be-left-out"|#\/\$defs/);
  });
});

describe('periodic tasks', () => {
  const apps = () => ({ monolith: system.monolith.app, 'queue service': system.queue.app, 'notification worker': worker.app });

  test('docs/reference/schedule.md equals what the services have registered', () => {
    const tasks = Object.entries(apps()).map(([service, app]) => [
      service,
      app.get(PeriodicTasks, { strict: false }).definitions,
    ]);
    expectGenerated('docs/reference/schedule.md', renderSchedule(Object.fromEntries(tasks)));
  });

  test.each(['monolith', 'queue service', 'notification worker'] as const)(
    'the tasks of the %s run: each is registered with @nestjs/schedule under its name, and has a sentence',
    (service) => {
      const app = apps()[service];
      const { definitions } = app.get(PeriodicTasks, { strict: false });
      expect(app.get(SchedulerRegistry, { strict: false }).getIntervals()).toEqual(definitions.map(({ name }) => name));
      expect(definitions.filter(({ does }) => !/^[A-Z].+\.$/.test(does))).toEqual([]);
      expect(definitions.length).toBeGreaterThan(2);
    },
  );

  test('the settings that the page of tasks names exist', () => {
    const definitions = Object.values(apps()).flatMap((app) => app.get(PeriodicTasks, { strict: false }).definitions);
    const named = definitions.flatMap(({ setting = '' }) => setting.match(/[A-Z_]{4,}/g) ?? []);
    const known = { ...monolithConfig.shape, ...queueServiceConfig.shape, ...workerConfig.shape };
    expect(named.filter((name) => !(name in known))).toEqual([]);
    expect(named.length).toBeGreaterThan(2);
  });
});

/** Mutating operations that take no request body. */
const WITHOUT_BODY = new Set([
  '/api/v1/transfers/{id}/decline',
  '/api/v1/ops/jobs/{job_id}/retry',
  '/api/v1/ops/moves/{id}/approve',
  '/api/v1/ops/moves/{id}/reject',
  '/api/v1/invitations/{id}/resend',
  '/api/v1/ops/webhooks/{id}/deliveries/{delivery_id}/retry',
]);

test('the outbox has exactly the destinations that docs/reference/events.md lists', () => {
  const relays = system.monolith.app.get(RelayApi, { strict: false }).relays;
  expect(relays.map(({ destination }) => destination.name).sort()).toEqual(Object.keys(documentedDestinations).sort());
});

test('every key in Redis is documented in redis-keys.md, with its type and with or without an expiry', async () => {
  await createKeys();
  const redis = new Redis(system.redisUrl);
  const documented = documentedRedisKeys();
  const keys = await redis.keys('*');
  const wrong: string[] = [];
  for (const key of keys) {
    const candidates = documented.filter((row) => redisKeyPattern(row).test(key));
    const [type, ttlSeconds] = [await redis.type(key), await redis.ttl(key)];
    const isDocumented = candidates.some(
      (row) =>
        (row.type === 'several' || row.type === type) && (row.type === 'several' || HAS_EXPIRY.test(row.life) === ttlSeconds > 0),
    );
    // The type is `none` if the key was deleted meanwhile, for example because a fan who got a turn has left the line.
    if (!isDocumented && type !== 'none')
      wrong.push(`${key} (${type}, ${ttlSeconds} s) among ${candidates.map((row) => row.key).join(', ') || 'none'}`);
  }
  await redis.quit();
  expect(wrong).toEqual([]);
  expect(keys.length).toBeGreaterThan(6);
});

/** Lets the services create Redis keys: for fans in a line, with a turn, and who have left, and for a call with an idempotency key. */
async function createKeys(): Promise<void> {
  const send = async (
    name: 'monolith' | 'queue',
    method: 'POST' | 'PUT' | 'DELETE',
    url: string,
    payload?: unknown,
  ): Promise<void> => {
    const headers = { 'x-mock-user-id': FAN_ID, 'x-internal-auth': INTERNAL_SECRET, 'idempotency-key': newKey() };
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

/** Matches a `life` column of redis-keys.md that names a duration or a setting for one. Such a key must have a TTL in Redis. */
const HAS_EXPIRY = /\d (s|h|min|days)\b|_SECONDS/;
