import { inject, sendOverSocket, closeSockets } from '../bad-input/calls.ts';
import { newKey, openSystem, STAFF_ID, type System } from '../bad-input/system.ts';
import { audited } from './audited-calls.ts';

// The disk is full for the audit log: PostgreSQL refuses each of its rows with SQLSTATE 53100.

let system: System;
let calls: ReturnType<typeof audited>;
beforeAll(async () => {
  system = await openSystem();
  calls = audited(system);
  await system.dataSource.query(
    `create function refuse_row() returns trigger language plpgsql as $$
     begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`,
  );
});
afterAll(async () => {
  closeSockets();
  await system.close();
});

const fillDisk = () =>
  system.dataSource.query(`create trigger full_disk before insert on audit_log for each row execute function refuse_row()`);
/** The tables that the calls change, without those that background work changes meanwhile. */
async function digest(): Promise<string> {
  const tables =
    'matches orders tickets blacklist blacklist_changes quotas quota_moves quota_move_requests invitations invitation_tokens job_interventions';
  const digests = tables.split(' ').map((table) => `select string_agg(t::text, '|' order by t::text) as rows from ${table} t`);
  return JSON.stringify(await system.dataSource.query(digests.join(' union all ')));
}
const freeDisk = () => system.dataSource.query(`drop trigger full_disk on audit_log`);

test('a call whose row cannot be written is 503 and changes nothing, and a read tells nothing; the same key works later', async () => {
  const faults: unknown[] = [];
  for (const [route, prepare] of Object.entries(calls)) {
    const { url, body, as = { userId: STAFF_ID, roles: 'ops' } } = await prepare();
    const [method = ''] = route.split(' ');
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      ...{ 'x-mock-user-id': as.userId, 'x-mock-roles': as.roles, 'idempotency-key': newKey() },
      ...(payload ? { 'content-type': 'application/json' } : {}),
    };
    const call = { method, url: `/api/v1${url}`, headers, ...(payload ? { payload } : {}) };
    const before = await digest();
    await fillDisk();
    const refused = await inject(system.monolith, call);
    const overSocket = await sendOverSocket(system.monolith, call);
    await freeDisk();
    const isUnchanged = (await digest()) === before;
    const later = await inject(system.monolith, call);
    try {
      const problem = JSON.parse(refused.text) as Record<string, unknown>;
      expect([route, refused.outcome, overSocket.outcome]).toEqual([
        route,
        '503 DEPENDENCY_UNAVAILABLE',
        '503 DEPENDENCY_UNAVAILABLE',
      ]);
      expect([route, Object.keys(problem).includes('items'), isUnchanged]).toEqual([route, false, true]);
      expect([route, later.outcome.slice(0, 1)]).toEqual([route, '2']);
    } catch (error) {
      faults.push(error);
    }
  }
  expect(faults).toEqual([]);
}, 60_000);
