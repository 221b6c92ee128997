import type { DeclaredRoute } from '#platform/http/route-table';
import {
  callers,
  closeSockets,
  forEachConcurrently,
  harmlessCall,
  inject,
  sendOverSocket,
  validCall,
  type Call,
} from './calls.ts';
import { equivalentPaths, otherPaths } from './malformed-parts.ts';
import { monolithSamples, queueSamples, type Sample } from './samples.ts';
import { INTERNAL_SECRET, OTHER_FAN_ID, openSystem, STAFF_ID, type Service, type System } from './system.ts';

// Calls every route as every kind of caller, with every way to write the path (F39 and SEC-05 in research/reliability.md). The
// access that a route declares decides which callers are allowed. A caller without access is refused, however the path is written,
// and no stored data changes.

let system: System;
let before: string;
beforeAll(async () => void (system = await openSystem()));
beforeEach(async () => void (before = await system.snapshot()));
afterEach(async () => expect(await system.snapshot()).toBe(before));
afterAll(async () => {
  closeSockets();
  await system.close();
});

type Access = NonNullable<DeclaredRoute['rules']>['access'];
type Verdict = 'allowed' | '401 UNAUTHENTICATED' | '403 FORBIDDEN';
type Verdicts = Record<Exclude<Access, 'public'>, Verdict>;
const [unauthenticated, forbidden] = ['401 UNAUTHENTICATED', '403 FORBIDDEN'] as const;

/** The access of people with roles. CONTRACT §14 says which roles have it. */
const staffAccess = ['ops:read', 'ops:sale', 'ops:money', 'ops:lists', 'ops', 'partner', 'gate'] as const;
const all = (verdict: Verdict): Verdicts => ({
  ...(Object.fromEntries(['fan', 'internal', ...staffAccess].map((access) => [access, verdict])) as Verdicts),
});
const nobody = all(unauthenticated);
/** A caller with a user id, whose roles allow these accesses besides that of every fan. */
const person = (...allowed: (typeof staffAccess)[number][]): Verdicts => ({
  ...all(forbidden),
  ...Object.fromEntries(['fan', ...allowed].map((access) => [access, 'allowed'])),
  internal: unauthenticated,
});
const withRoles = (roles: string) => ({ 'x-mock-user-id': STAFF_ID, 'x-mock-roles': roles });
const operator = person('ops:read', 'ops:sale', 'ops:money', 'ops:lists', 'ops', 'partner');

/** Each kind of caller: the headers that it sends, and whether a route with each access must allow it. Public routes allow every caller. */
const callerKinds: Record<string, { headers: Call['headers']; verdicts: Verdicts }> = {
  'a caller without identity': { headers: {}, verdicts: nobody },
  'a fan': { headers: callers.fan, verdicts: person() },
  'another fan': { headers: { 'x-mock-user-id': OTHER_FAN_ID }, verdicts: person() },
  'an operator': { headers: callers.operator, verdicts: operator },
  'an operator who only reads': { headers: withRoles('ops:read'), verdicts: person('ops:read') },
  'an operator of sales': { headers: withRoles('ops:sale'), verdicts: person('ops:read', 'ops:sale', 'partner') },
  'an operator of money': { headers: withRoles('ops:money'), verdicts: person('ops:read', 'ops:money') },
  'an operator of lists': { headers: withRoles('ops:lists'), verdicts: person('ops:read', 'ops:lists') },
  'an operator of money and lists': {
    headers: withRoles('ops:lists,ops:money'),
    verdicts: person('ops:read', 'ops:money', 'ops:lists'),
  },
  'an operator with all parts': {
    headers: withRoles('ops:read,ops:sale,ops:money,ops:lists'),
    verdicts: { ...operator, ops: forbidden },
  },
  'a partner': { headers: callers.partner, verdicts: person('partner') },
  'a partner who also reads as an operator': { headers: withRoles('partner,ops:read'), verdicts: person('ops:read', 'partner') },
  'a steward': { headers: callers.steward, verdicts: person('gate') },
  'an operator with roles in capitals': { headers: withRoles('OPS, GATE, OPS:READ'), verdicts: person() },
  'a caller with roles that do not exist': {
    headers: withRoles('ops:,:read,ops:all,ops read,ops:*,public,fan'),
    verdicts: person(),
  },
  'roles without a user id': { headers: { 'x-mock-roles': 'ops,gate' }, verdicts: nobody },
  'a user id that is not a UUID': { headers: { 'x-mock-user-id': 'admin', 'x-mock-roles': 'ops' }, verdicts: nobody },
  'two user ids': { headers: { 'x-mock-user-id': [OTHER_FAN_ID, STAFF_ID], 'x-mock-roles': 'ops' }, verdicts: nobody },
  'an unsigned access token in mock mode': {
    headers: { authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiIwMTkwYTAwMCJ9.' },
    verdicts: nobody,
  },
  'our own service': { headers: callers['own service'], verdicts: { ...nobody, internal: 'allowed' } },
  'a wrong internal secret': { headers: { 'x-internal-auth': INTERNAL_SECRET.replace(/.$/, 'x') }, verdicts: nobody },
  'the internal secret sent twice': { headers: { 'x-internal-auth': [INTERNAL_SECRET, INTERNAL_SECRET] }, verdicts: nobody },
  'an operator with an empty internal secret': { headers: { ...callers.operator, 'x-internal-auth': '' }, verdicts: operator },
};

/** One combination to test: a route, a kind of caller and whether the call must be allowed. */
interface Cell {
  readonly service: Service;
  readonly route: DeclaredRoute;
  readonly callerKind: string;
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
    return Object.entries(callerKinds).map(([callerKind, row]) => {
      const verdict = access === 'public' ? 'allowed' : row.verdicts[access];
      const call = (): Call => {
        const {
          'x-mock-user-id': _id,
          'x-mock-roles': _roles,
          'x-internal-auth': _secret,
          ...rest
        } = harmlessCall(route, sample, system.ids).headers;
        return { ...harmlessCall(route, sample, system.ids), headers: { ...rest, ...row.headers } };
      };
      return { service, route, callerKind, verdict, call };
    });
  });
}

/** A caller is allowed if the route handles the request: with a success or with a refusal that is not about access. */
function matchesVerdict(outcome: string, verdict: Verdict, method: string): boolean {
  if (verdict === 'allowed') return !/^401|^403 FORBIDDEN|^5/.test(outcome);
  return method === 'HEAD' ? outcome === verdict.slice(0, 3) : outcome === verdict;
}

/** The access of each route as the specification (CONTRACT §2 and §14) lists it. */
function accessInContract(route: string): Access {
  if (/^(GET|HEAD) \/(api\/v1\/matches|api\/v1\/queue\/:match_id\/status$|sse\/|ws\/)/.test(route)) return 'public';
  if (/^POST \/api\/v1\/(payments\/webhooks|sandbox)\//.test(route)) return 'public';
  if (/\/(sold-out|control|restore|complete|queue-fans\/:user_id)$/.test(route)) return 'internal';
  if (/ \/api\/v1\/(quotas|invitations\/:id)/.test(route)) return 'partner';
  if (route === 'POST /api/v1/invitations/lookup') return 'public';
  if (!route.includes('/api/v1/ops/')) return 'fan';
  if (/\/(audit|webhooks)(\/|$)/.test(route)) return 'ops';
  if (/^(GET|HEAD) .*\.csv$/.test(route)) return 'ops:money';
  if (/^(GET|HEAD) /.test(route)) return 'ops:read';
  if (/\/(refund|cancel)$/.test(route)) return 'ops:money';
  return route.includes('/blacklist') ? 'ops:lists' : 'ops:sale';
}

describe.each(services)('access to the routes of %s', (name) => {
  test('each route declares the access that the specification (CONTRACT §2 and §14) lists for it', () => {
    const declared = system[name].routes
      .filter(({ url }) => /^\/(api|sse|ws)\//.test(url))
      .map(({ method, url, rules }) => [`${method} ${url}`, rules?.access]);
    expect(declared).toEqual(declared.map(([route]) => [route, accessInContract(String(route))]));
    expect(declared.length).toBeGreaterThan(10);
  });

  test('each route allows exactly the callers who have its declared access, such as `fan` or `ops:sale`', async () => {
    const wrong: string[] = [];
    const matrix = cells(name);
    await forEachConcurrently(matrix, async ({ service, route, callerKind, verdict, call }) => {
      const { outcome } = await sendOverSocket(service, call());
      if (!matchesVerdict(outcome, verdict, route.method))
        wrong.push(`${route.method} ${route.url}, ${callerKind}: ${outcome} instead of ${verdict}`);
    });
    expect(wrong).toEqual([]);
    expect(matrix.length).toBeGreaterThan(name === 'monolith' ? 1400 : 200);
  });

  test('a caller without access is refused, however the path of the route is written', async () => {
    const refused = cells(name).filter(({ verdict }) => verdict !== 'allowed');
    const pathVariants = [...otherPaths, ...equivalentPaths];
    const wrong: string[] = [];
    await forEachConcurrently(refused, async ({ service, route, callerKind, verdict, call }) => {
      for (const [what, rewrite] of pathVariants) {
        const original = call();
        const answer = await sendOverSocket(service, { ...original, url: rewrite(original.url) });
        if (![verdict.slice(0, 3), '400', '404', '414'].includes(answer.outcome.slice(0, 3))) {
          wrong.push(`${route.method} ${route.url}, ${callerKind}, ${what}: ${answer.outcome}`);
        }
      }
    });
    expect(wrong).toEqual([]);
    expect(refused.length * pathVariants.length).toBeGreaterThan(1000);
    // The timeout is 60 s for thousands of calls, which took 19 s while eight other test runs used the same two cores.
  }, 60_000);

  test('an object that belongs to one fan, such as an order, is 404 for other fans, operators and stewards', async () => {
    const otherCallers = ['another fan', 'an operator', 'a steward'].map((callerKind) => ({
      callerKind,
      headers: callerKinds[callerKind]?.headers ?? {},
    }));
    const wrong: string[] = [];
    let callCount = 0;
    for (const route of system[name].routes) {
      const sample = sampleOf(name, route);
      if (!sample?.isOwned) continue;
      for (const { callerKind, headers } of otherCallers) {
        const call = validCall(route, sample, system.ids);
        const { outcome } = await inject(system[name], { ...call, headers: { ...call.headers, ...headers } });
        callCount += 1;
        if (outcome !== (route.method === 'HEAD' ? '404' : '404 NOT_FOUND'))
          wrong.push(`${route.method} ${route.url}, ${callerKind}: ${outcome}`);
      }
    }
    expect(wrong).toEqual([]);
    if (name === 'monolith') expect(callCount).toBeGreaterThan(15);
  });

  test('a list of objects that belong to fans, such as orders, shows only those of the caller', async () => {
    for (const [routeName, sample] of Object.entries(samples[name]).filter(([, { query }]) => query)) {
      const route = system[name].routes.find(({ method, url }) => `${method} ${url}` === routeName) as DeclaredRoute;
      if (route.rules?.access !== 'fan') continue;
      const call = validCall(route, sample, system.ids);
      const ownList = await inject(system[name], call);
      const listOfOther = await inject(system[name], { ...call, headers: { 'x-mock-user-id': OTHER_FAN_ID } });
      expect([routeName, JSON.parse(ownList.text)]).not.toEqual([routeName, { items: [], next_cursor: null }]);
      expect([routeName, JSON.parse(listOfOther.text)]).toEqual([routeName, { items: [], next_cursor: null }]);
    }
  });
});

test('negative control: the check matchesVerdict reports answers that do not fit the expected access', () => {
  expect(matchesVerdict('200', unauthenticated, 'GET')).toBe(false);
  expect(matchesVerdict('400 VALIDATION_FAILED', forbidden, 'POST')).toBe(false);
  expect(matchesVerdict('403 FORBIDDEN', 'allowed', 'GET')).toBe(false);
  expect(matchesVerdict('500 INTERNAL_ERROR', 'allowed', 'GET')).toBe(false);
});
