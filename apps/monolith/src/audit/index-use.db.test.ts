import { openDatabase } from '#platform/postgres/database';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { SEARCH_AUDIT_LOG, type AuditSearch } from './search-audit-log.sql.ts';
import { insertActs } from './testing/many-acts.ts';

// A search of the audit log reads the index of its filter from the newest entry on, however many rows the table has.

const ROWS = 40_000;
const LIMIT = 21;
let database: TestDatabase;
let dataSource: DataSource;

beforeAll(async () => {
  database = await createTestDatabase();
  dataSource = await openDatabase({ url: database.url, name: 'test', poolSize: 1 });
  await dataSource.query(insertActs(ROWS));
  await dataSource.query('analyze audit_log');
});
afterAll(async () => {
  await dataSource.destroy();
  await database.close();
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

async function plan(sql: string, values: unknown[] = []): Promise<PlanNode[]> {
  const [row] = await dataSource.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }[]>(`explain (analyze, format json) ${sql}`, values);
  const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];
  return nodesOf(row!['QUERY PLAN'][0].Plan);
}

const readRows = (nodes: readonly PlanNode[]): number =>
  Math.max(...nodes.map((node) => node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)));

const none: AuditSearch = {
  ...{ actor: null, action: null, target: null, matchId: null, since: null, until: null, after: null, limit: LIMIT },
};
// One of 200 operators. For the busiest one PostgreSQL may read the index of the times.
const actor = '0190a000-0000-7000-8000-000000000003';
const matchId = '0190a000-0000-7000-9000-000000000003';
const past = new Date(Date.now() - (ROWS / 2) * 1000).toISOString();
const minuteAgo = new Date(Date.now() - 60_000).toISOString();

const searches: [string, Partial<AuditSearch>, index: string][] = [
  ['nothing', {}, 'audit_log_by_time'],
  ['a time', { until: past }, 'audit_log_by_time'],
  ['the last minute', { since: minuteAgo }, 'audit_log_by_time'],
  ['an operator', { actor }, 'audit_log_by_actor'],
  ['an operator and a time', { actor, until: past }, 'audit_log_by_actor'],
  ['an action', { action: 'actionb' }, 'audit_log_by_action'],
  ['an operator and an action', { actor, action: 'actionb' }, 'audit_log_by_actor_and_action'],
  ['an object', { target: 'c81e728d-9d4c-2f63-6f06-7f89cc14862c' }, 'audit_log_by_target'],
  ['a match', { matchId }, 'audit_log_by_match'],
];

test.each(searches)('the search for %s reads its index and few rows', async (_, search, index) => {
  const { text, values } = SEARCH_AUDIT_LOG.with({ ...none, ...search });
  const nodes = await plan(text, values as unknown[]);
  expect(nodes.flatMap((node) => node['Index Name'] ?? [])).toEqual([index]);
  expect(readRows(nodes)).toBeLessThanOrEqual(3 * LIMIT);
});

test('negative control: a search without an index reads the table', async () => {
  const nodes = await plan(`select * from audit_log where request_id = 'r-1' order by at desc limit ${LIMIT}`);
  expect(readRows(nodes)).toBeGreaterThan(ROWS / 2);
});

test('a page begins after the last entry of the page before, also where several have the same time', async () => {
  await dataSource.query(`insert into audit_log select gen_random_uuid(), '2020-01-01', 'twin', '{}', 'a', 'b', null, null, null, null, 'r', 'x'
                          from generate_series(1, 50)`);
  const found: string[] = [];
  for (let after: string | null = null; found.length < 50; after = found.at(-1) ?? null) {
    const { text, values } = SEARCH_AUDIT_LOG.with({ ...none, actor: 'twin', after, limit: 7 });
    const rows = await dataSource.query<{ id: string }[]>(text, values as unknown[]);
    expect(rows.length).toBe(Math.min(7, 50 - found.length));
    found.push(...rows.map(({ id }) => id));
  }
  expect(new Set(found).size).toBe(50);
});
