import { isForOperators } from '#contracts/roles';
import type { DeclaredRoute } from '#platform/http/route-table';
import {
  forEachConcurrently,
  fillPath,
  validCall,
  closeSockets,
  harmlessCall,
  inject,
  needsKey,
  unknownIds,
  sendOverSocket,
  type Answer,
  type Call,
} from './calls.ts';
import {
  bodyFaults,
  idFaults,
  ignoredHeaders,
  ignoredQueries,
  keyFaults,
  queryFaults,
  segmentFaults,
  otherPaths,
  equivalentPaths,
  unexpectedBodies,
} from './malformed-parts.ts';
import { monolithSamples, needsSample, queueSamples, type Sample } from './samples.ts';
import { readOpenApi, bodySchema, documentedAnswers, fieldsOf, type OpenApi } from './documented.ts';
import { pathsOf, invalidBodies, toJson } from './shapes.ts';
import { newKey, openSystem, type Service, type System } from './system.ts';

// Calls every route of both services with every kind of malformed request. Each fault must have its documented status and code, no
// answer may be a 500, and the data in PostgreSQL and in the waiting room must be unchanged afterwards.

let system: System;
let before: string;
let apis: Record<(typeof services)[number], OpenApi>;
beforeAll(async () => {
  system = await openSystem();
  apis = { monolith: await readOpenApi(system.monolith), queue: await readOpenApi(system.queue) };
});
beforeEach(async () => void (before = await system.snapshot()));
afterAll(async () => {
  closeSockets();
  await system.close();
});
afterEach(async () => expect(await system.snapshot()).toBe(before));

interface Target {
  readonly service: Service;
  readonly route: DeclaredRoute;
  readonly sample: Sample;
  readonly name: string;
  /** The longest body that the route accepts. */
  readonly limitBytes: number;
  /** All answers that the OpenAPI document lists for the route, in the form `400 VALIDATION_FAILED`. */
  readonly documented: ReadonlySet<string>;
  readonly valid: () => Call;
}

interface Attempt {
  readonly target: Target;
  readonly description: string;
  readonly call: Call;
  /** Expected status and code, or a pattern for them. */
  readonly expected: string | RegExp;
  readonly send?: typeof inject;
}

const samples = { monolith: monolithSamples, queue: queueSamples };
const services = ['monolith', 'queue'] as const;
let attemptCount = 0;

function targets(name: (typeof services)[number]): Target[] {
  const service = system[name];
  return service.routes.flatMap((route) => {
    const sample = samples[name][`${route.method} ${route.url}`];
    if (!sample) return [];
    const access = route.rules?.access;
    const isLarge = isForOperators(access) || access === 'internal' || route.rules?.body === 'raw';
    const limitBytes = (route.rules?.takesLists ? 2048 : isLarge ? 256 : 16) * 1024;
    return [
      {
        service,
        route,
        sample,
        limitBytes,
        documented: documentedAnswers(apis[name], route),
        name: `${route.method} ${route.url}`,
        valid: () => validCall(route, sample, system.ids),
      },
    ];
  });
}

const matchesExpected = (outcome: string, expected: string | RegExp): boolean =>
  typeof expected === 'string' ? outcome === expected : expected.test(outcome);

/** Whether the call still goes to the route of the target. A changed path may lead to another route or to no route. */
function leadsToTarget({ route }: Target, { method, url }: Call): boolean {
  return method === route.method && method !== 'HEAD' && hasPathOf(route.url, url.split('?')[0] ?? '');
}

function hasPathOf(routeUrl: string, path: string): boolean {
  return new RegExp(`^${routeUrl.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`).test(path);
}

/** Text that no error answer may contain: it would show internals or repeat the attacker's host. */
const LEAKED_INTERNALS = /evil\.example|\bat .+\.ts|node_modules|select |insert |ReplyError|SyntaxError|"stack"/;

async function sendAll(attempts: readonly Attempt[], atLeast: number): Promise<void> {
  const wrong: string[] = [];
  await forEachConcurrently(attempts, async ({ target, description, call, expected, send = inject }) => {
    const answer = await send(target.service, call).catch((error: unknown): Answer => ({
      outcome: String(error),
      headers: {},
      text: '',
    }));
    const leaked = LEAKED_INTERNALS.exec(answer.text)?.[0];
    const isProblem = Number(answer.outcome.slice(0, 3)) < 400 || / /.test(answer.outcome) || call.method === 'HEAD';
    if (!matchesExpected(answer.outcome, expected) || leaked || !isProblem) {
      wrong.push(
        `${target.name}: ${description} → ${answer.outcome} instead of ${String(expected)}${leaked ? `, leaking ${leaked}` : ''}`,
      );
    }
    if (leadsToTarget(target, call) && !target.documented.has(answer.outcome))
      wrong.push(`${target.name}: ${description} → ${answer.outcome}, which is not documented`);
  });
  attemptCount += attempts.length;
  expect(wrong).toEqual([]);
  expect(attempts.length).toBeGreaterThanOrEqual(atLeast);
}

const json = { 'content-type': 'application/json' };

describe.each(services)('malformed requests to %s', (name) => {
  test('every route has a sample call, and every sample call has a route', () => {
    const routes = system[name].routes.map(({ method, url }) => `${method} ${url}`);
    const sampledRoutes = routes.filter(needsSample);
    expect(sampledRoutes.sort()).toEqual(Object.keys(samples[name]).sort());
  });

  test('the sample calls of a route have exactly the body fields that the OpenAPI document lists', async () => {
    const document = await readOpenApi(system[name]);
    const documented = targets(name).map((target) => [
      target.name,
      [...fieldsOf(bodySchema(document, target.route), document)].sort(),
    ]);
    const sampled = targets(name).map(({ name: route, sample }) => [
      route,
      [...new Set((sample.bodies ?? []).flatMap((body) => pathsOf(body)))].sort(),
    ]);
    expect(sampled).toEqual(documented);
  });

  test('a valid GET request is answered with 200 by the monolith, with 200 or 404 NOT_FOUND by the queue service', async () => {
    const reads = targets(name).filter(({ route }) => route.method === 'GET');
    const expected = name === 'monolith' ? '200' : /^(200|404 NOT_FOUND)$/;
    await sendAll(
      reads.map((target) => {
        const isStream = target.route.url.endsWith('/availability');
        return { target, description: 'valid request', call: target.valid(), expected: isStream ? '404 NOT_FOUND' : expected };
      }),
      3,
    );
  });

  test('a request whose body has one wrong field is 400 VALIDATION_FAILED', async () => {
    const attempts = targets(name).flatMap((target) =>
      (target.sample.bodies ?? []).flatMap((body) =>
        invalidBodies(body, system.ids).map(({ description, json: payload }): Attempt => {
          const call = { ...target.valid(), payload };
          return { target, description, call, expected: '400 VALIDATION_FAILED' };
        }),
      ),
    );
    await sendAll(attempts, name === 'monolith' ? 900 : 200);
  });

  test('a request with a malformed body is 400, with a body over the size limit 413, with a wrong media type 415', async () => {
    const attempts = targets(name).flatMap((target) =>
      (target.sample.bodies ?? []).slice(0, 1).flatMap((body) => {
        const { limitBytes } = target;
        const faults = bodyFaults(toJson(body.valid(system.ids)), { limitBytes, isOptional: isEmptyBodyValid(target) });
        return faults.map(({ description, payload, type = 'application/json', expected }): Attempt => {
          const call = target.valid();
          return {
            target,
            description,
            call: { ...call, payload, headers: { ...call.headers, 'content-type': type } },
            expected,
          };
        });
      }),
    );
    await sendAll(attempts, name === 'monolith' ? 400 : 100);
  });

  test('a request with a chunked body over the size limit, without a content-length, is 413', async () => {
    const writeTargets = targets(name).filter(({ route }) => route.method !== 'GET');
    const attempts = writeTargets.map((target): Attempt => {
      const call = target.valid();
      const headers = { ...call.headers, ...json, 'transfer-encoding': 'chunked' };
      const payload = `["${'x'.repeat(target.limitBytes - 3)}"]`;
      return {
        target,
        description: 'chunked',
        call: { ...call, payload, headers },
        expected: '413 PAYLOAD_TOO_LARGE',
        send: sendOverSocket,
      };
    });
    await sendAll(attempts, name === 'monolith' ? 10 : 4);
  });

  test('a request with a body is 400 if the route takes no body', async () => {
    const bodiless = targets(name).filter(({ route }) => route.rules?.body === 'none');
    const attempts = bodiless.flatMap((target) =>
      unexpectedBodies.flatMap((payload) =>
        ['application/json', 'text/plain', 'nonsense', ''].map((type): Attempt => {
          const call = target.valid();
          const headers = { ...call.headers, 'content-type': type };
          return {
            target,
            description: `${payload} as ${type}`,
            call: { ...call, payload, headers },
            expected: '400 VALIDATION_FAILED',
          };
        }),
      ),
    );
    await sendAll(attempts, 24);
  });

  test('a route that takes no body accepts an empty body or {}, whatever its content type', async () => {
    const bodiless = targets(name).filter(({ route }) => route.rules?.body === 'none');
    const attempts = bodiless.flatMap((target) =>
      ['', '{}', ' { } '].flatMap((payload) =>
        [undefined, 'application/json', 'text/plain', 'nonsense', ''].map((type): Attempt => {
          const call = harmlessCall(target.route, target.sample, system.ids);
          const headers = { ...call.headers, ...(type === undefined ? {} : { 'content-type': type }) };
          return {
            target,
            description: `${payload} as ${type}`,
            call: { ...call, payload, headers },
            expected: /^(204|404 NOT_FOUND|409 INVALID_STATE)$/,
          };
        }),
      ),
    );
    await sendAll(attempts, 15);
  });

  test('the body of a GET request is ignored', async () => {
    const reads = targets(name).filter(({ route }) => route.method === 'GET');
    const attempts = await Promise.all(
      reads.map(async (target): Promise<Attempt> => {
        const call = { ...target.valid(), payload: '[' };
        return {
          target,
          description: 'with a body',
          call: { ...call, headers: { ...call.headers, ...json } },
          expected: (await inject(target.service, target.valid())).outcome,
        };
      }),
    );
    await sendAll(attempts, 3);
  });

  test('a request with a missing or malformed idempotency key is 400', async () => {
    const keyedTargets = targets(name).filter(({ route }) => needsKey(name, route));
    const attempts = keyedTargets.flatMap((target) =>
      keyFaults.map(([description, key, expected]): Attempt => {
        const { 'idempotency-key': _validKey, ...headers } = target.valid().headers;
        const call = { ...target.valid(), headers: { ...headers, ...(key === undefined ? {} : { 'idempotency-key': key }) } };
        return { target, description: `key ${description}`, call, expected, send: sendOverSocket };
      }),
    );
    await sendAll(attempts, name === 'monolith' ? 100 : 0);
  });

  test('a request for a list with an invalid limit or cursor is 400; unknown query parameters are ignored', async () => {
    const listTargets = targets(name).filter(({ sample }) => sample.query);
    const withQuery = (target: Target, query: string): Call => ({ ...target.valid(), url: `${target.valid().url}?${query}` });
    const attempts = listTargets.flatMap((target) => [
      ...queryFaults.map((query): Attempt => ({
        target,
        description: query,
        call: withQuery(target, query),
        expected: '400 VALIDATION_FAILED',
        send: sendOverSocket,
      })),
      ...ignoredQueries.map((query): Attempt => ({
        target,
        description: query,
        call: withQuery(target, query),
        expected: '200',
        send: sendOverSocket,
      })),
    ]);
    await sendAll(attempts, name === 'monolith' ? 100 : 0);
  });

  test('a request with a malformed path parameter is 400, with an overlong path parameter 414', async () => {
    const attempts = targets(name).flatMap((target) =>
      Object.keys(unknownIds(target.route.url)).flatMap((parameter) => {
        const withSegment = (segment: string): Call => ({
          ...target.valid(),
          url: fillPath(target.route.url, { ...target.sample.path?.(system.ids), [parameter]: segment }),
        });
        const isId = /^(id|sid|match_id|user_id)$/.test(parameter);
        return [
          ...segmentFaults.map(([segment, expected]): Attempt => ({
            target,
            description: `${parameter} ${segment.slice(0, 20)}`,
            call: withSegment(segment),
            expected,
            send: sendOverSocket,
          })),
          ...(isId ? idFaults : []).map((id): Attempt => ({
            target,
            description: `${parameter} ${id}`,
            call: withSegment(id),
            expected: '400 VALIDATION_FAILED',
            send: sendOverSocket,
          })),
        ];
      }),
    );
    await sendAll(attempts, 200);
  });

  test('a UUID in capital letters is accepted as the same id', async () => {
    const attempts = await Promise.all(
      targets(name)
        .filter(({ route }) => route.url.includes(':') && !/:(device_id|intent_id|queue_token)/.test(route.url))
        .map(async (target): Promise<Attempt> => {
          const call = harmlessCall(target.route, target.sample, system.ids);
          const url = call.url.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, (id) => id.toUpperCase());
          const { outcome } = await inject(target.service, harmlessCall(target.route, target.sample, system.ids));
          return { target, description: 'capitals', call: { ...call, url }, expected: outcome };
        }),
    );
    await sendAll(attempts, 5);
  });

  test('a request for an id that does not exist is 404, or the status in `answerIfMissing` of its sample call', async () => {
    const testedTargets = targets(name).filter(
      ({ route, sample }) => route.url.includes(':') && sample.answerIfMissing !== 'not tested',
    );
    const attempts = testedTargets.map((target): Attempt => {
      const url = fillPath(target.route.url, unknownIds(target.route.url));
      return {
        target,
        description: url,
        call: { ...target.valid(), url },
        expected: target.sample.answerIfMissing ? String(target.sample.answerIfMissing) : '404 NOT_FOUND',
      };
    });
    await sendAll(attempts, 5);
  });

  test('a request with a path that resembles the path of a route but is not equivalent to it is 400, 404 or 414', async () => {
    const attempts = targets(name).flatMap((target) => {
      // The last segment of these routes is an opaque token that may contain any text.
      const expected = /:(device_id|queue_token)$/.test(target.route.url)
        ? /^(204|400 |404 |414 )/
        : /^(400 VALIDATION_FAILED|404 NOT_FOUND|414 URI_TOO_LONG)$/;
      return otherPaths.map(([description, rewrite]): Attempt => {
        const call = harmlessCall(target.route, target.sample, system.ids);
        return { target, description, call: { ...call, url: rewrite(call.url) }, expected, send: sendOverSocket };
      });
    });
    await sendAll(attempts, 200);
  });

  test('an equivalent spelling of a path leads to the same route or is refused', async () => {
    const attempts = await Promise.all(
      targets(name).flatMap((target) => {
        const harmless = (): Call => harmlessCall(target.route, target.sample, system.ids);
        return equivalentPaths.map(async ([description, rewrite]): Promise<Attempt> => {
          const { outcome } = await inject(target.service, harmless());
          const call = harmless();
          const expected = new RegExp(`^(${outcome}|400 VALIDATION_FAILED|404 NOT_FOUND)$`);
          return { target, description, call: { ...call, url: rewrite(call.url) }, expected, send: sendOverSocket };
        });
      }),
    );
    await sendAll(attempts, 25);
  });

  test('a request with a method that the path does not support is 404', async () => {
    const allRoutes = system[name].routes;
    const paths = new Map(targets(name).map((target) => [target.route.url, target]));
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'SEARCH', 'PURGE'];
    const attempts = [...paths].flatMap(([url, target]) =>
      methods
        // The path of a route may also fit a parameter of another one: DELETE /invitations/lookup is DELETE /invitations/:id.
        .filter((method) => !allRoutes.some((route) => route.method === method && hasPathOf(route.url, url)))
        .map((method): Attempt => {
          const call = {
            ...target.valid(),
            method,
            headers: { ...target.valid().headers, 'idempotency-key': newKey() },
            payload: undefined,
          };
          return {
            target,
            description: method,
            call,
            expected: method === 'HEAD' ? '404' : '404 NOT_FOUND',
            send: sendOverSocket,
          };
        }),
    );
    await sendAll(attempts, 30);
  });
});

test.each(services)('headers that a service ignores, even if malformed, do not change the answers of %s', async (name) => {
  const attempts: Attempt[] = [];
  const headers = Object.entries(ignoredHeaders);
  // Send eight requests at a time: the pool has four connections, and requests that wait too long for a connection fail.
  await forEachConcurrently(
    targets(name).flatMap((target) => headers.map(([header, value]) => ({ target, header, value }))),
    async ({ target, header, value }) => {
      const harmless = (): Call => harmlessCall(target.route, target.sample, system.ids);
      const { outcome } = await inject(target.service, harmless());
      const call = harmless();
      attempts.push({
        target,
        description: `${header}: ${value.slice(0, 30)}`,
        call: { ...call, headers: { ...call.headers, [header]: value } },
        expected: outcome,
        send: sendOverSocket,
      });
    },
  );
  await sendAll(attempts, 100);
});

test('a request for a static file with a path that leaves /assets or /docs is refused', async () => {
  const target = targets('monolith')[0] as Target;
  const folders = ['/assets/', '/docs/'];
  const escapes = [
    '../package.json',
    '..%2f..%2fpackage.json',
    '%2e%2e/%2e%2e/package.json',
    '..%5c..%5cpackage.json',
    '....//package.json',
    '%00',
    '/etc/passwd',
    '%2fetc%2fpasswd',
    '.env',
    'x%ff',
  ];
  const attempts = folders.flatMap((folder) =>
    escapes.map((escape): Attempt => {
      const call = { method: 'GET', url: folder + escape, headers: {} };
      return {
        target,
        description: call.url,
        call,
        expected: /^(400 VALIDATION_FAILED|403 FORBIDDEN|404 NOT_FOUND|414 URI_TOO_LONG)$/,
        send: sendOverSocket,
      };
    }),
  );
  await sendAll(attempts, 20);
});

test('the tests of malformed requests sent more than 4,000 requests', () => {
  expect(attemptCount).toBeGreaterThan(4000);
});

/** Whether an empty body is valid, because all fields of the body are optional. */
function isEmptyBodyValid({ sample }: Target): boolean {
  return sample.bodyOptional ?? Object.values(sample.bodies?.[0]?.members ?? {}).every(({ optional }) => optional);
}
