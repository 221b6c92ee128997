import type { DeclaredRoute } from '#platform/http/route-table';
import { callers, eachOf, goodCall, hangUp, harmlessCall, inject, onTheWire, type Call } from './calls.ts';
import { sidesteps, spellings } from './faults.ts';
import { monolithSamples, queueSamples, type Sample } from './samples.ts';
import { INTERNAL_SECRET, OTHER_FAN, openSystem, STAFF, type Service, type System } from './system.ts';

// Every route × everybody × every way to write its path (F39, SEC-05). What each may do follows from the access the route declares;
// whoever may not gets nothing, however the path was bent, and nothing changes.

let system: System;
let before: string;
beforeAll(async () => void (system = await openSystem()));
beforeEach(async () => void (before = await system.snapshot()));
afterEach(async () => expect(await system.snapshot()).toBe(before));
afterAll(async () => {
  hangUp();
  await system.close();
});

type Access = NonNullable<DeclaredRoute['rules']>['access'];
type Verdict = 'in' | '401 UNAUTHENTICATED' | '403 FORBIDDEN';
const [stranger, forbidden] = ['401 UNAUTHENTICATED', '403 FORBIDDEN'] as const;

/** Who comes with what, and where that leads. Public routes let everybody in. */
const everybody: Record<string, { headers: Call['headers'] } & Record<Exclude<Access, 'public'>, Verdict>> = {
  nobody: { headers: {}, fan: stranger, ops: stranger, gate: stranger, internal: stranger },
  'a fan': { headers: callers.fan, fan: 'in', ops: forbidden, gate: forbidden, internal: stranger },
  'another fan': { headers: { 'x-mock-user-id': OTHER_FAN }, fan: 'in', ops: forbidden, gate: forbidden, internal: stranger },
  'an operator': { headers: callers.operator, fan: 'in', ops: 'in', gate: forbidden, internal: stranger },
  'a steward': { headers: callers.steward, fan: 'in', ops: forbidden, gate: 'in', internal: stranger },
  'an operator in capitals': {
    headers: { 'x-mock-user-id': STAFF, 'x-mock-roles': 'OPS, GATE' },
    ...{ fan: 'in', ops: forbidden, gate: forbidden, internal: stranger },
  },
  'roles of nobody': {
    headers: { 'x-mock-roles': 'ops,gate' },
    fan: stranger,
    ops: stranger,
    gate: stranger,
    internal: stranger,
  },
  'a name that is none': {
    headers: { 'x-mock-user-id': 'admin', 'x-mock-roles': 'ops' },
    ...{ fan: stranger, ops: stranger, gate: stranger, internal: stranger },
  },
  'two names': {
    headers: { 'x-mock-user-id': [OTHER_FAN, STAFF], 'x-mock-roles': 'ops' },
    ...{ fan: stranger, ops: stranger, gate: stranger, internal: stranger },
  },
  'a token nobody asked for': {
    headers: { authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiIwMTkwYTAwMCJ9.' },
    ...{ fan: stranger, ops: stranger, gate: stranger, internal: stranger },
  },
  'our own service': { headers: callers['own service'], fan: stranger, ops: stranger, gate: stranger, internal: 'in' },
  'a wrong secret': {
    headers: { 'x-internal-auth': INTERNAL_SECRET.replace(/.$/, 'x') },
    ...{ fan: stranger, ops: stranger, gate: stranger, internal: stranger },
  },
  'the secret twice': {
    headers: { 'x-internal-auth': [INTERNAL_SECRET, INTERNAL_SECRET] },
    ...{ fan: stranger, ops: stranger, gate: stranger, internal: stranger },
  },
  'an operator with a wrong secret': {
    headers: { ...callers.operator, 'x-internal-auth': '' },
    ...{ fan: 'in', ops: 'in', gate: forbidden, internal: stranger },
  },
};

interface Cell {
  readonly service: Service;
  readonly route: DeclaredRoute;
  readonly who: string;
  readonly verdict: Verdict;
  readonly call: () => Call;
}

const samples = { monolith: monolithSamples, queue: queueSamples };
const services = ['monolith', 'queue'] as const;

function sampleOf(name: (typeof services)[number], { method, url }: DeclaredRoute): Sample | undefined {
  return samples[name][`${method === 'HEAD' ? 'GET' : method} ${url}`];
}

function cells(name: (typeof services)[number]): Cell[] {
  const service = system[name];
  return service.routes.flatMap((route) => {
    const sample = sampleOf(name, route);
    const access = route.rules?.access;
    if (!sample || !access) return [];
    return Object.entries(everybody).map(([who, row]) => {
      const verdict = access === 'public' ? 'in' : row[access];
      const call = (): Call => {
        const {
          'x-mock-user-id': _id,
          'x-mock-roles': _roles,
          'x-internal-auth': _secret,
          ...rest
        } = harmlessCall(route, sample, system.at).headers;
        return { ...harmlessCall(route, sample, system.at), headers: { ...rest, ...row.headers } };
      };
      return { service, route, who, verdict, call };
    });
  });
}

/** Let in is who hears of the request itself: an answer, or what is wrong with it. */
function asJudged(said: string, verdict: Verdict, method: string): boolean {
  if (verdict === 'in') return !/^401|^403 FORBIDDEN|^5/.test(said);
  return method === 'HEAD' ? said === verdict.slice(0, 3) : said === verdict;
}

/** CONTRACT §2, to the letter. */
function promised(route: string): Access {
  if (/^(GET|HEAD) \/(api\/v1\/matches|api\/v1\/queue\/:match_id\/status$|sse\/|ws\/)/.test(route)) return 'public';
  if (/^POST \/api\/v1\/(payments\/webhooks|sandbox)\//.test(route)) return 'public';
  if (/\/(sold-out|control|restore|complete)$/.test(route)) return 'internal';
  return route.includes('/api/v1/ops/') ? 'ops' : 'fan';
}

describe.each(services)('%s', (name) => {
  test('each route declares what the contract promises', () => {
    const declared = system[name].routes
      .filter(({ url }) => /^\/(api|sse|ws)\//.test(url))
      .map(({ method, url, rules }) => [`${method} ${url}`, rules?.access]);
    expect(declared).toEqual(declared.map(([route]) => [route, promised(String(route))]));
    expect(declared.length).toBeGreaterThan(10);
  });

  test('each route lets in whom it declares, and nobody else', async () => {
    const wrong: string[] = [];
    const all = cells(name);
    await eachOf(all, async ({ service, route, who, verdict, call }) => {
      const { said } = await onTheWire(service, call());
      if (!asJudged(said, verdict, route.method))
        wrong.push(`${route.method} ${route.url}, ${who}: ${said} instead of ${verdict}`);
    });
    expect(wrong).toEqual([]);
    expect(all.length).toBeGreaterThan(name === 'monolith' ? 400 : 120);
  });

  test('no way to write a path lets in who may not', async () => {
    const outsiders = cells(name).filter(({ verdict }) => verdict !== 'in');
    const bends = [...sidesteps, ...spellings];
    const wrong: string[] = [];
    await eachOf(outsiders, async ({ service, route, who, verdict, call }) => {
      for (const [what, bend] of bends) {
        const straight = call();
        const answer = await onTheWire(service, { ...straight, url: bend(straight.url) });
        if (![verdict.slice(0, 3), '400', '404', '414'].includes(answer.said.slice(0, 3))) {
          wrong.push(`${route.method} ${route.url}, ${who}, ${what}: ${answer.said}`);
        }
      }
    });
    expect(wrong).toEqual([]);
    expect(outsiders.length * bends.length).toBeGreaterThan(1000);
    // Thousands of calls: 19 s where eight others want the same two cores.
  }, 60_000);

  test('what is one fan’s is not there for others, whoever they are', async () => {
    const others = ['another fan', 'an operator', 'a steward'].map((who) => ({ who, headers: everybody[who]?.headers ?? {} }));
    const wrong: string[] = [];
    let asked = 0;
    for (const route of system[name].routes) {
      const sample = sampleOf(name, route);
      if (!sample?.isOwned) continue;
      for (const { who, headers } of others) {
        const call = goodCall(route, sample, system.at);
        const { said } = await inject(system[name], { ...call, headers: { ...call.headers, ...headers } });
        asked += 1;
        if (said !== (route.method === 'HEAD' ? '404' : '404 NOT_FOUND'))
          wrong.push(`${route.method} ${route.url}, ${who}: ${said}`);
      }
    }
    expect(wrong).toEqual([]);
    if (name === 'monolith') expect(asked).toBeGreaterThan(15);
  });

  test('a list shows nothing of others', async () => {
    for (const [name_, sample] of Object.entries(samples[name]).filter(([, { query }]) => query)) {
      const route = system[name].routes.find(({ method, url }) => `${method} ${url}` === name_) as DeclaredRoute;
      if (route.rules?.access !== 'fan') continue;
      const call = goodCall(route, sample, system.at);
      const mine = await inject(system[name], call);
      const theirs = await inject(system[name], { ...call, headers: { 'x-mock-user-id': OTHER_FAN } });
      expect([name_, JSON.parse(mine.text)]).not.toEqual([name_, { items: [], next_cursor: null }]);
      expect([name_, JSON.parse(theirs.text)]).toEqual([name_, { items: [], next_cursor: null }]);
    }
  });
});

test('a route that declares more than it should would be seen: the matrix is not always green', () => {
  expect(asJudged('200', stranger, 'GET')).toBe(false);
  expect(asJudged('400 VALIDATION_FAILED', forbidden, 'POST')).toBe(false);
  expect(asJudged('403 FORBIDDEN', 'in', 'GET')).toBe(false);
  expect(asJudged('500 INTERNAL_ERROR', 'in', 'GET')).toBe(false);
});
