import { randomUUID } from 'node:crypto';
import { inject, validCall, type Call } from '../bad-input/calls.ts';
import { monolithSamples } from '../bad-input/samples.ts';
import { FAN_ID, newKey, openSystem, STAFF_ID, type System } from '../bad-input/system.ts';
import { audited, SECRET, SECRET_EMAIL, type AuditedCall } from './audited-calls.ts';

// Walks every route that CONTRACT §14 names for the audit log, and shows that a successful call of it leaves one row and every other
// call none.

let system: System;
let calls: ReturnType<typeof audited>;
beforeAll(async () => {
  system = await openSystem();
  calls = audited(system);
});
afterAll(() => system.close());

/** What CONTRACT §14 names: every write of operators and partners, and their reads of orders, blacklist, jobs, invitations, audit. */
const NAMED = [
  /^(POST|PUT|PATCH|DELETE) \/ops\//,
  /^POST \/quotas\/:id\/invitations$/,
  /^(POST|DELETE) \/invitations\/:id/,
  /^GET \/ops\/(orders|blacklist|jobs|audit)/,
  /^GET \/ops\/.*\.csv$/,
  /^GET \/quotas\/:id\/invitations$/,
];
/** Routes that look like these, and why they leave no row. */
const NOT_AUDITED: Readonly<Record<string, string>> = {
  'POST /ops/matches/:id/quotas/check': 'it only reads the quotas of a match',
  'GET /ops/jobs/counts': 'it has numbers only',
};

const routesOfOperators = (): string[] =>
  // Without the prefix of the API: a page of the web app may have the path of a route.
  system.monolith.routes
    .flatMap(({ method, url }) => (url.startsWith('/api/v1/') ? [`${method} ${url.slice('/api/v1'.length)}`] : []))
    .filter((route) => NAMED.some((pattern) => pattern.test(route)));

const rowsOf = (requestId: string): Promise<Record<string, unknown>[]> =>
  system.dataSource.query(
    `select actor, roles, action, target_type, target_id, match_id, before, after, address, row_to_json(a)::text as text
     from audit_log a where request_id = $1`,
    [requestId],
  );
const countRows = async (): Promise<number> =>
  ((await system.dataSource.query(`select count(*)::int as n from audit_log`)) as { n: number }[])[0]?.n ?? 0;

function callOf(route: string, { url, body, as }: AuditedCall, headers: Record<string, string>): Call {
  const [method = ''] = route.split(' ');
  return {
    method,
    url: `/api/v1${url}`,
    headers: {
      ...{ 'x-mock-user-id': as?.userId ?? STAFF_ID, 'x-mock-roles': as?.roles ?? 'ops' },
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  };
}

test('each route that CONTRACT §14 names has a call in this test, or a reason why it is not audited', () => {
  expect(routesOfOperators().sort()).toEqual([...Object.keys(calls), ...Object.keys(NOT_AUDITED)].sort());
});

test('each successful call leaves one row with what changed; the same key again, a refusal and another role leave none', async () => {
  const faults: unknown[] = [];
  for (const [route, prepare] of Object.entries(calls)) {
    const call = await prepare();
    const [requestId, key] = [randomUUID(), newKey()];
    const request = callOf(route, call, { 'x-request-id': requestId, 'idempotency-key': key });
    const answer = await inject(system.monolith, request);
    const rows = await rowsOf(requestId);
    const operation = system.monolith.routes.find(({ method, url }) => `${method} ${url}` === route.replace(' ', ' /api/v1'))
      ?.rules?.operationId;
    const expected = {
      ...{ actor: call.as?.userId ?? STAFF_ID, roles: [call.as?.roles ?? 'ops'], action: operation, address: '127.0.0.1' },
      ...{ target_type: call.target.type, target_id: call.target.id, before: call.before, after: call.after },
    };
    try {
      expect([route, answer.outcome.slice(0, 1), rows]).toEqual([route, '2', [expect.objectContaining(expected)]]);
      const text = String(rows[0]?.text);
      expect([route, text.includes(SECRET), text.includes(SECRET_EMAIL)]).toEqual([route, false, false]);
      const before = await countRows();
      const withoutRole = callOf(route, { ...call, as: { userId: FAN_ID, roles: 'gate' } }, { 'idempotency-key': newKey() });
      const faulty = callOf(route, { ...call, body: { no_such_field: 1 } }, { 'idempotency-key': newKey() });
      const isKeyed = !['GET', 'DELETE'].includes(request.method);
      const others = [withoutRole, ...(call.body === undefined ? [] : [faulty]), ...(isKeyed ? [request] : [])];
      const outcomes = [];
      for (const other of others) outcomes.push((await inject(system.monolith, other)).outcome);
      expect([route, (await countRows()) - before, outcomes[0]]).toEqual([route, 0, '403 FORBIDDEN']);
    } catch (error) {
      faults.push(error);
    }
  }
  expect(faults).toEqual([]);
});

test('a dry run leaves no row, and the same list for real leaves one', async () => {
  const { matchId, quotaId, sectorId } = system.ids;
  const quota = { name: 'Sponsors', kind: 'sponsor', places: [{ sector_id: sectorId, quantity: 1 }] };
  const list = { list_key: 'dry', invitations: [{ email: 'ivo@example.hr', quantity: 1 }] };
  const bodies: [url: string, body: object][] = [
    [`/ops/matches/${matchId}/quotas`, quota],
    [`/quotas/${quotaId}/invitations`, list],
    ['/ops/jobs/retry', { queue: 'jobs' }],
  ];
  const target = { type: '', id: null };
  for (const [url, body] of bodies) {
    const added: number[] = [];
    for (const dryRun of [true, false]) {
      const before = await countRows();
      const call = { url, body: { ...body, dry_run: dryRun }, target, before: null, after: null };
      const { outcome } = await inject(system.monolith, callOf('POST', call, { 'idempotency-key': newKey() }));
      expect([url, outcome.slice(0, 1)]).toEqual([url, '2']);
      added.push((await countRows()) - before);
    }
    expect([url, added]).toEqual([url, [0, 1]]);
  }
});

test('a list of which nobody can be invited, and a HEAD of a list, leave one row each', async () => {
  const { quotaId } = system.ids;
  const before = await countRows();
  const nobody = { invitations: [{ email: 'no address', quantity: 1 }] };
  const call = { url: `/quotas/${quotaId}/invitations`, body: nobody, target: { type: '', id: null }, before: null, after: null };
  await inject(system.monolith, callOf('POST', call, { 'idempotency-key': newKey() }));
  await inject(system.monolith, callOf('HEAD', { ...call, url: '/ops/blacklist', body: undefined }, {}));
  expect((await countRows()) - before).toBe(2);
});

test('no call of a fan leaves a row, not even of a fan who is an operator too', async () => {
  expect(await system.dataSource.query('select action from audit_log where actor = $1', [FAN_ID])).toEqual([]);
  const before = await countRows();
  const answered: string[] = [];
  for (const route of system.monolith.routes) {
    const sample = monolithSamples[`${route.method} ${route.url}`];
    const access = route.rules?.access;
    if (!sample || (access !== 'fan' && access !== 'public')) continue;
    const call = validCall(route, sample, system.ids);
    answered.push((await inject(system.monolith, { ...call, headers: { ...call.headers, 'x-mock-roles': 'ops' } })).outcome);
  }
  expect(answered.filter((outcome) => outcome.startsWith('2')).length).toBeGreaterThan(15);
  expect((await countRows()) - before).toBe(0);
});
