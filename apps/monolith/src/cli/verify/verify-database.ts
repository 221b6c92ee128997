import type { DataSource, QueryRunner } from 'typeorm';
import { flowInvariants } from './flow-invariants.ts';
import type { Invariant } from './invariant.ts';
import { orderInvariants } from './order-invariants.ts';
import { paymentInvariants } from './payment-invariants.ts';
import { quotaInvariants } from './quota-invariants.ts';
import { seatInvariants } from './seat-invariants.ts';
import { transferInvariants } from './transfer-invariants.ts';

/** All invariants, in the order in which they are checked and printed. */
export const invariants: readonly Invariant[] = [
  ...seatInvariants,
  ...quotaInvariants,
  ...orderInvariants,
  ...transferInvariants,
  ...paymentInvariants,
  ...flowInvariants,
];

/** At most this many rows of each broken invariant are returned; `Finding.broken` counts all of them. */
const MAX_ROWS_SHOWN = 20;

/** The result of checking one invariant. */
export interface Finding {
  readonly name: string;
  readonly sentence: string;
  readonly checked: number;
  /** How many of the checked rows break the invariant. `rows` has at most 20 of them. */
  readonly broken: number;
  readonly rows: readonly ({ readonly problem: string } & Readonly<Record<string, unknown>>)[];
}

/** The result of checking all invariants, as `verify --json` prints it. */
export interface Verification {
  readonly ok: boolean;
  readonly as_of: string;
  readonly match_id: string | null;
  readonly took_ms: number;
  readonly invariants: readonly Finding[];
}

/** The match that was to be verified does not exist. */
export class UnknownMatch extends Error {
  constructor(matchId: string) {
    super(`There is no match ${matchId}.`);
  }
}

/**
 * Checks all invariants of the database. All queries read one snapshot, so they see the state between two commits even while a
 * sale runs. The queries take no lock that would block buyers.
 */
export async function verifyDatabase(dataSource: DataSource, options: { matchId?: string } = {}): Promise<Verification> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.connect();
    await runner.startTransaction('REPEATABLE READ');
    await runner.query('set transaction read only');
    return await verifySnapshot(runner, options.matchId ?? null);
  } finally {
    if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
    await runner.release();
  }
}

/**
 * Checks the invariants like `verifyDatabase`, but in a transaction that the caller has begun. The transaction must be REPEATABLE
 * READ, so that all statements use one snapshot.
 */
export async function verifySnapshot(runner: QueryRunner, matchId: string | null): Promise<Verification> {
  const begunAt = performance.now();
  const asOf = await takeSnapshot(runner);
  if (matchId && (await rowsOf(runner, 'select 1 from matches where id = $1', [matchId])).length === 0)
    throw new UnknownMatch(matchId);
  const findings: Finding[] = [];
  for (const invariant of invariants) {
    if (!matchId || !invariant.isGlobal) findings.push(await examine(runner, invariant, [matchId, asOf]));
  }
  const tookMs = Math.round(performance.now() - begunAt);
  return {
    ok: findings.every(({ broken }) => broken === 0),
    as_of: asOf,
    match_id: matchId,
    took_ms: tookMs,
    invariants: findings,
  };
}

/**
 * Takes the snapshot, then reads the time that decides what has expired. A hold that is living at that time was living at every
 * commit in the snapshot, so its seats cannot belong to anyone else. We do not use `now()`, because it is a little earlier than
 * the snapshot: an expired hold whose seat was taken in between would look like a second claim.
 *
 * Settings: enough memory for the joins, so that they need no temporary files. No JIT, which takes longer than it saves. No
 * parallel workers: each would group the whole table again (4 s instead of 2 s for 220,000 orders), and the running sale needs
 * the processors.
 */
async function takeSnapshot(runner: QueryRunner): Promise<string> {
  const [row] = await rowsOf<{ as_of: string }>(
    runner,
    `select set_config('work_mem', '64MB', true), set_config('jit', 'off', true), set_config('max_parallel_workers_per_gather', '0', true),
            to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as as_of`,
  );
  if (!row) throw new Error('PostgreSQL did not return its time.');
  return row.as_of;
}

/**
 * Checks one invariant. Counts first, which needs only the column `problem`. If the invariant is broken, reads its rows from the
 * same snapshot.
 */
async function examine(
  runner: QueryRunner,
  { name, sentence, sql }: Invariant,
  parameters: [string | null, string],
): Promise<Finding> {
  // PostgreSQL refuses parameters that a statement does not use. Some invariants use none, so we select both here.
  const [count] = await rowsOf<{ checked: number; broken: number }>(
    runner,
    `select count(*)::int as checked, count(problem)::int as broken, $1::uuid as match_id, $2::timestamptz as as_of from (${sql}) examined`,
    parameters,
  );
  if (!count) throw new Error(`The query of the invariant ${name} returned no row.`);
  const { checked, broken } = count;
  if (broken === 0) return { name, sentence, checked, broken, rows: [] };
  const rows = await rowsOf<{ row: Finding['rows'][number] }>(
    runner,
    `select jsonb_strip_nulls(to_jsonb(examined)) as row, $1::uuid as match_id, $2::timestamptz as as_of
     from (${sql}) examined where problem is not null limit ${MAX_ROWS_SHOWN}`,
    parameters,
  );
  return { name, sentence, checked, broken, rows: rows.map(({ row }) => row) };
}

async function rowsOf<T>(runner: QueryRunner, sql: string, parameters: unknown[] = []): Promise<T[]> {
  return (await runner.query(sql, parameters)) as T[];
}
