import { readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';

/** A node of a plan in the JSON of EXPLAIN, with what it really did. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** How a statement read a table. */
export interface TableScan {
  readonly statement: string;
  readonly table: string;
  /** As EXPLAIN names it, such as `Seq Scan`. */
  readonly how: string;
  /** The rows that it read, also those that its conditions removed. */
  readonly rows: number;
}

/** What auto_explain writes to the log of PostgreSQL for each statement. The lines of the plan begin with a tab. */
const LOGGED_PLAN = /LOG: {2}duration: [\d.]+ ms {2}plan:\n((?:\t.*\n)+)/g;

const SETTINGS = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_format': 'json',
  'auto_explain.log_parameter_max_length': '0',
};

/**
 * Collects how all statements of a database are executed: the plans that PostgreSQL chose for the values that they had, with the rows that
 * each step read. Only connections that are opened after `start` are observed.
 */
export class ExplainedStatements {
  /** The log of the server, which this user has started. */
  private constructor(private readonly log: string) {}

  static async start(databaseUrl: string): Promise<ExplainedStatements> {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    const database = new URL(databaseUrl).pathname.slice(1);
    for (const [name, value] of Object.entries(SETTINGS))
      await client.query(`alter database ${database} set ${name} = '${value}'`);
    const { rows } = await client.query<{ folder: string }>(`select current_setting('data_directory') as folder`);
    await client.end();
    return new ExplainedStatements(path.join(rows[0]!.folder, '../postgres.log'));
  }

  /** How the statements that `work` sent read their tables. A plan is in the log before its statement is answered. */
  async during(work: () => Promise<unknown>): Promise<TableScan[]> {
    const { length } = readFileSync(this.log);
    await work();
    const text = readFileSync(this.log).subarray(length).toString();
    return [...text.matchAll(LOGGED_PLAN)].flatMap(([, plan = '']) => scansIn(plan));
  }
}

function scansIn(loggedPlan: string): TableScan[] {
  const { 'Query Text': text, Plan: plan } = JSON.parse(loggedPlan.replaceAll(/^\t/gm, '')) as {
    'Query Text': string;
    Plan: PlanNode;
  };
  const statement = text.replaceAll(/\s+/g, ' ').trim();
  return nodesOf(plan).flatMap((node): TableScan[] => {
    const { 'Node Type': how, 'Relation Name': table } = node;
    return table && how.endsWith('Scan') ? [{ statement, table, how: describe(node), rows: rowsRead(node) }] : [];
  });
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

const describe = ({ 'Node Type': how, 'Index Name': index }: PlanNode): string => (index ? `${how} using ${index}` : how);

/** The numbers of a node are averages of its loops. */
function rowsRead(node: PlanNode): number {
  const perLoop = node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  return Math.round(perLoop * node['Actual Loops']);
}
