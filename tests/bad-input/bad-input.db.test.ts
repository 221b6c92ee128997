import type { DeclaredRoute } from '#platform/http/route-table';
import {
  eachOf,
  fill,
  goodCall,
  hangUp,
  harmlessCall,
  inject,
  needsKey,
  nowhere,
  onTheWire,
  type Answer,
  type Call,
} from './calls.ts';
import {
  bodyFaults,
  idFaults,
  idleHeaders,
  ignoredQueries,
  keyFaults,
  queryFaults,
  segmentFaults,
  sidesteps,
  spellings,
  uninvitedBodies,
} from './faults.ts';
import { monolithSamples, queueSamples, withoutSample, type Sample } from './samples.ts';
import { apiOf, bodySchema, documentedAnswers, fieldsOf, type Api } from './documented.ts';
import { pathsOf, spoil, write } from './shapes.ts';
import { newKey, openSystem, type Service, type System } from './system.ts';

// Every route of both services with everything that may be wrong with a request: each fault has its status and code, nothing is
// ever a 500, and afterwards PostgreSQL and the waiting room hold exactly what they held before.

let system: System;
let before: string;
let apis: Record<(typeof services)[number], Api>;
beforeAll(async () => {
  system = await openSystem();
  apis = { monolith: await apiOf(system.monolith), queue: await apiOf(system.queue) };
});
beforeEach(async () => void (before = await system.snapshot()));
afterAll(async () => {
  hangUp();
  await system.close();
});
afterEach(async () => expect(await system.snapshot()).toBe(before));

interface Target {
  readonly service: Service;
  readonly route: DeclaredRoute;
  readonly sample: Sample;
  readonly name: string;
  /** The longest body it takes. */
  readonly limitBytes: number;
  /** What it may be answered. */
  readonly documented: ReadonlySet<string>;
  readonly good: () => Call;
}

interface Try {
  readonly target: Target;
  readonly what: string;
  readonly call: Call;
  /** What may be answered. */
  readonly says: string | RegExp;
  readonly send?: typeof inject;
}

const samples = { monolith: monolithSamples, queue: queueSamples };
const services = ['monolith', 'queue'] as const;
let tried = 0;

function targets(name: (typeof services)[number]): Target[] {
  const service = system[name];
  return service.routes.flatMap((route) => {
    const sample = samples[name][`${route.method} ${route.url}`];
    if (!sample) return [];
    const isLarge = ['ops', 'internal'].includes(route.rules?.access ?? '') || route.rules?.body === 'raw';
    const limitBytes = (isLarge ? 256 : 16) * 1024;
    return [
      {
        service,
        route,
        sample,
        limitBytes,
        documented: documentedAnswers(apis[name], route),
        name: `${route.method} ${route.url}`,
        good: () => goodCall(route, sample, system.at),
      },
    ];
  });
}

const fits = (said: string, says: string | RegExp): boolean => (typeof says === 'string' ? said === says : says.test(said));

/** A path that was bent may lead to another route, or to none. */
function isOfTarget({ route }: Target, { method, url }: Call): boolean {
  const pattern = new RegExp(`^${route.url.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`);
  return method === route.method && method !== 'HEAD' && pattern.test(url.split('?')[0] ?? '');
}

/** Nobody learns from a refusal how we are made. */
const TELLTALE = /evil\.example|\bat .+\.ts|node_modules|select |insert |ReplyError|SyntaxError|"stack"/;

async function tryAll(tries: readonly Try[], atLeast: number): Promise<void> {
  const wrong: string[] = [];
  await eachOf(tries, async ({ target, what, call, says, send = inject }) => {
    const answer = await send(target.service, call).catch((error: unknown): Answer => ({
      said: String(error),
      headers: {},
      text: '',
    }));
    const told = TELLTALE.exec(answer.text)?.[0];
    const isProblem = Number(answer.said.slice(0, 3)) < 400 || / /.test(answer.said) || call.method === 'HEAD';
    if (!fits(answer.said, says) || told || !isProblem) {
      wrong.push(`${target.name}: ${what} → ${answer.said} instead of ${String(says)}${told ? `, telling ${told}` : ''}`);
    }
    if (isOfTarget(target, call) && !target.documented.has(answer.said))
      wrong.push(`${target.name}: ${what} → ${answer.said}, which is not documented`);
  });
  tried += tries.length;
  expect(wrong).toEqual([]);
  expect(tries.length).toBeGreaterThanOrEqual(atLeast);
}

const json = { 'content-type': 'application/json' };

describe.each(services)('%s', (name) => {
  test('every route has its sample, and every sample its route', () => {
    const routes = system[name].routes.map(({ method, url }) => `${method} ${url}`);
    const walked = routes.filter((route) => !withoutSample.test(route) && !route.startsWith('HEAD '));
    expect(walked.sort()).toEqual(Object.keys(samples[name]).sort());
  });

  test('every field a route documents stands in its sample, and no other', async () => {
    const document = await apiOf(system[name]);
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

  test('what is sent right is taken, or refused by a rule and not for its form', async () => {
    const reads = targets(name).filter(({ route }) => route.method === 'GET');
    const says = name === 'monolith' ? '200' : /^(200|404 NOT_FOUND)$/;
    await tryAll(
      reads.map((target) => {
        const isStream = target.route.url.endsWith('/availability');
        return { target, what: 'as it should be', call: target.good(), says: isStream ? '404 NOT_FOUND' : says };
      }),
      3,
    );
  });

  test('a body with one wrong field', async () => {
    const tries = targets(name).flatMap((target) =>
      (target.sample.bodies ?? []).flatMap((body) =>
        spoil(body, system.at).map(({ what, json: payload }): Try => {
          const call = { ...target.good(), payload };
          return { target, what, call, says: '400 VALIDATION_FAILED' };
        }),
      ),
    );
    await tryAll(tries, name === 'monolith' ? 900 : 200);
  });

  test('a body that is none, or is nobody’s', async () => {
    const tries = targets(name).flatMap((target) =>
      (target.sample.bodies ?? []).slice(0, 1).flatMap((body) => {
        const { limitBytes } = target;
        const faults = bodyFaults(write(body.good(system.at)), { limitBytes, isOptional: isEmptyGood(target) });
        return faults.map(({ what, payload, type = 'application/json', says }): Try => {
          const call = target.good();
          return { target, what, call: { ...call, payload, headers: { ...call.headers, 'content-type': type } }, says };
        });
      }),
    );
    await tryAll(tries, name === 'monolith' ? 400 : 100);
  });

  test('a body too long that does not say how long it is', async () => {
    const writing = targets(name).filter(({ route }) => route.method !== 'GET');
    const tries = writing.map((target): Try => {
      const call = target.good();
      const headers = { ...call.headers, ...json, 'transfer-encoding': 'chunked' };
      const payload = `["${'x'.repeat(target.limitBytes - 3)}"]`;
      return { target, what: 'chunked', call: { ...call, payload, headers }, says: '413 PAYLOAD_TOO_LARGE', send: onTheWire };
    });
    await tryAll(tries, name === 'monolith' ? 10 : 4);
  });

  test('a body where none is taken', async () => {
    const bodiless = targets(name).filter(({ route }) => route.rules?.body === 'none');
    const tries = bodiless.flatMap((target) =>
      uninvitedBodies.flatMap((payload) =>
        ['application/json', 'text/plain', 'nonsense', ''].map((type): Try => {
          const call = target.good();
          const headers = { ...call.headers, 'content-type': type };
          return { target, what: `${payload} as ${type}`, call: { ...call, payload, headers }, says: '400 VALIDATION_FAILED' };
        }),
      ),
    );
    await tryAll(tries, 24);
  });

  test('no body, an empty one or {} is no body, whatever it calls itself', async () => {
    const bodiless = targets(name).filter(({ route }) => route.rules?.body === 'none');
    const tries = bodiless.flatMap((target) =>
      ['', '{}', ' { } '].flatMap((payload) =>
        [undefined, 'application/json', 'text/plain', 'nonsense', ''].map((type): Try => {
          const call = harmlessCall(target.route, target.sample, system.at);
          const headers = { ...call.headers, ...(type === undefined ? {} : { 'content-type': type }) };
          return { target, what: `${payload} as ${type}`, call: { ...call, payload, headers }, says: /^(204|404 NOT_FOUND)$/ };
        }),
      ),
    );
    await tryAll(tries, 15);
  });

  test('a body of a read is not looked at', async () => {
    const reads = targets(name).filter(({ route }) => route.method === 'GET');
    const tries = await Promise.all(
      reads.map(async (target): Promise<Try> => {
        const call = { ...target.good(), payload: '[' };
        return {
          target,
          what: 'with a body',
          call: { ...call, headers: { ...call.headers, ...json } },
          says: (await inject(target.service, target.good())).said,
        };
      }),
    );
    await tryAll(tries, 3);
  });

  test('an idempotency key that is none', async () => {
    const keyed = targets(name).filter(({ route }) => needsKey(name, route));
    const tries = keyed.flatMap((target) =>
      keyFaults.map(([what, key, says]): Try => {
        const { 'idempotency-key': _good, ...headers } = target.good().headers;
        const call = { ...target.good(), headers: { ...headers, ...(key === undefined ? {} : { 'idempotency-key': key }) } };
        return { target, what: `key ${what}`, call, says, send: onTheWire };
      }),
    );
    await tryAll(tries, name === 'monolith' ? 100 : 0);
  });

  test('a query that cannot be answered, and one that does not matter', async () => {
    const lists = targets(name).filter(({ sample }) => sample.query);
    const ask = (target: Target, query: string): Call => ({ ...target.good(), url: `${target.good().url}?${query}` });
    const tries = lists.flatMap((target) => [
      ...queryFaults.map((query): Try => ({
        target,
        what: query,
        call: ask(target, query),
        says: '400 VALIDATION_FAILED',
        send: onTheWire,
      })),
      ...ignoredQueries.map((query): Try => ({ target, what: query, call: ask(target, query), says: '200', send: onTheWire })),
    ]);
    await tryAll(tries, name === 'monolith' ? 100 : 0);
  });

  test('a parameter in the path that is none', async () => {
    const tries = targets(name).flatMap((target) =>
      Object.keys(nowhere(target.route.url)).flatMap((parameter) => {
        const bent = (segment: string): Call => ({
          ...target.good(),
          url: fill(target.route.url, { ...target.sample.path?.(system.at), [parameter]: segment }),
        });
        const isId = /^(id|sid|match_id|user_id)$/.test(parameter);
        return [
          ...segmentFaults.map(([segment, says]): Try => ({
            target,
            what: `${parameter} ${segment.slice(0, 20)}`,
            call: bent(segment),
            says,
            send: onTheWire,
          })),
          ...(isId ? idFaults : []).map((id): Try => ({
            target,
            what: `${parameter} ${id}`,
            call: bent(id),
            says: '400 VALIDATION_FAILED',
            send: onTheWire,
          })),
        ];
      }),
    );
    await tryAll(tries, 200);
  });

  test('an id in capitals is the same id', async () => {
    const tries = await Promise.all(
      targets(name)
        .filter(({ route }) => route.url.includes(':') && !/:(device_id|intent_id|queue_token)/.test(route.url))
        .map(async (target): Promise<Try> => {
          const call = harmlessCall(target.route, target.sample, system.at);
          const url = call.url.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, (id) => id.toUpperCase());
          const { said } = await inject(target.service, harmlessCall(target.route, target.sample, system.at));
          return { target, what: 'capitals', call: { ...call, url }, says: said };
        }),
    );
    await tryAll(tries, 5);
  });

  test('an object that never was', async () => {
    const asked = targets(name).filter(({ route, sample }) => route.url.includes(':') && sample.absent !== 'not asked');
    const tries = asked.map((target): Try => {
      const url = fill(target.route.url, nowhere(target.route.url));
      return {
        target,
        what: url,
        call: { ...target.good(), url },
        says: target.sample.absent ? String(target.sample.absent) : '404 NOT_FOUND',
      };
    });
    await tryAll(tries, 5);
  });

  test('a path that only looks like the route’s', async () => {
    const tries = targets(name).flatMap((target) => {
      // What stands at the end of these is opaque, and may be anything.
      const says = /:(device_id|queue_token)$/.test(target.route.url)
        ? /^(204|400 |404 |414 )/
        : /^(400 VALIDATION_FAILED|404 NOT_FOUND|414 URI_TOO_LONG)$/;
      return sidesteps.map(([what, bend]): Try => {
        const call = harmlessCall(target.route, target.sample, system.at);
        return { target, what, call: { ...call, url: bend(call.url) }, says, send: onTheWire };
      });
    });
    await tryAll(tries, 200);
  });

  test('the route’s path in other words leads to the route, or nowhere', async () => {
    const tries = await Promise.all(
      targets(name).flatMap((target) => {
        const harmless = (): Call => harmlessCall(target.route, target.sample, system.at);
        return spellings.map(async ([what, bend]): Promise<Try> => {
          const { said } = await inject(target.service, harmless());
          const call = harmless();
          const says = new RegExp(`^(${said}|400 VALIDATION_FAILED|404 NOT_FOUND)$`);
          return { target, what, call: { ...call, url: bend(call.url) }, says, send: onTheWire };
        });
      }),
    );
    await tryAll(tries, 25);
  });

  test('a method the path does not have', async () => {
    const all = system[name].routes;
    const paths = new Map(targets(name).map((target) => [target.route.url, target]));
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'SEARCH', 'PURGE'];
    const tries = [...paths].flatMap(([url, target]) =>
      methods
        .filter((method) => !all.some((route) => route.url === url && route.method === method))
        .map((method): Try => {
          const call = {
            ...target.good(),
            method,
            headers: { ...target.good().headers, 'idempotency-key': newKey() },
            payload: undefined,
          };
          return { target, what: method, call, says: method === 'HEAD' ? '404' : '404 NOT_FOUND', send: onTheWire };
        }),
    );
    await tryAll(tries, 30);
  });
});

test.each(services)('headers that mean nothing to %s change nothing', async (name) => {
  const tries: Try[] = [];
  const headers = Object.entries(idleHeaders);
  // All of them at once wait for the pool's four connections longer than it lets them.
  await eachOf(
    targets(name).flatMap((target) => headers.map(([header, value]) => ({ target, header, value }))),
    async ({ target, header, value }) => {
      const harmless = (): Call => harmlessCall(target.route, target.sample, system.at);
      const { said } = await inject(target.service, harmless());
      const call = harmless();
      tries.push({
        target,
        what: `${header}: ${value.slice(0, 30)}`,
        call: { ...call, headers: { ...call.headers, [header]: value } },
        says: said,
        send: onTheWire,
      });
    },
  );
  await tryAll(tries, 100);
});

test('files are served from their folder and from nowhere else', async () => {
  const target = targets('monolith')[0] as Target;
  const folders = ['/assets/', '/docs/'];
  const ways = [
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
  const tries = folders.flatMap((folder) =>
    ways.map((way): Try => {
      const call = { method: 'GET', url: folder + way, headers: {} };
      return {
        target,
        what: call.url,
        call,
        says: /^(400 VALIDATION_FAILED|403 FORBIDDEN|404 NOT_FOUND|414 URI_TOO_LONG)$/,
        send: onTheWire,
      };
    }),
  );
  await tryAll(tries, 20);
});

test('so many requests were made that the walk cannot have been empty', () => {
  expect(tried).toBeGreaterThan(4000);
});

/** All of its fields may be left out, so nothing at all is no fault. */
function isEmptyGood({ sample }: Target): boolean {
  return sample.bodyOptional ?? Object.values(sample.bodies?.[0]?.members ?? {}).every(({ optional }) => optional);
}
