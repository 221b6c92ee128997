import { DomainError } from '#domain/shared/domain-error';
import { setTimeout as pause } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { waitAtMost } from '../wait-at-most.ts';
import { sqlstates } from './sqlstates.ts';

const MAX_LOOKUPS = 20;
const POLL_INTERVAL_MS = 250;

/**
 * Thrown when the transaction did not commit. It has the SQLSTATE of a serialization failure, so that the transaction manager
 * retries the transaction.
 */
class CommitDidNotHappen extends Error {
  readonly code = sqlstates.serializationFailure;
}

/** A transaction and the server on which it began, to look up its outcome later. */
export interface TransactionIdentity {
  readonly id: string;
  /** The start time of the server, which tells servers apart. */
  readonly server: string;
  /** When the transaction began, on the clock of the server. */
  readonly begunAt: string;
}

/** SQL columns for `TransactionIdentity`, selected when a transaction begins. */
export const IDENTITY_COLUMNS = `pg_current_xact_id()::text as id, pg_postmaster_start_time()::text as server, now()::text as "begunAt"`;

/**
 * SQL that reads the outcome of a transaction; the outcome is 'forgotten' when this server cannot know it. After a crash recovery
 * or a failover the server may give the id of a transaction whose log was lost to a new transaction. So the id is valid only on
 * the server where the transaction began, and only if that server has not crashed since. A crash of a backend process does not
 * change the start time, but it resets the statistics, so `stats_reset` is compared, too (docs/adr/0004).
 */
const OUTCOME = `
  select case when pg_postmaster_start_time() = $2::timestamptz and stats_reset <= $3::timestamptz then pg_xact_status($1::xid8)
              else 'forgotten' end as status
  from pg_stat_bgwriter`;

/**
 * Finds out whether a transaction committed whose connection broke during COMMIT. PostgreSQL keeps the outcome of each
 * transaction, so it is read on another connection. If the transaction committed, the function returns. If it aborted, it throws
 * a retryable error. If no answer comes in time, or the server cannot know the outcome, it throws OUTCOME_UNKNOWN; the client may
 * send the request again with the same idempotency key.
 */
export async function resolveCommit(
  dataSource: DataSource,
  transaction: TransactionIdentity,
  { timeoutMs, sleep = pause }: { timeoutMs: number; sleep?: ((ms: number) => Promise<void>) | undefined },
): Promise<void> {
  const giveUpAt = Date.now() + timeoutMs;
  for (let lookup = 0; lookup < MAX_LOOKUPS && Date.now() < giveUpAt; lookup += 1) {
    const status = await outcomeOf(dataSource, transaction, giveUpAt);
    if (status === 'committed') return;
    if (status === 'aborted') throw new CommitDidNotHappen('The connection broke and the commit did not happen.');
    if (status === 'forgotten') break;
    await sleep(POLL_INTERVAL_MS);
  }
  throw new DomainError(
    'OUTCOME_UNKNOWN',
    'The database connection was lost during the commit. Send the request again with the same key.',
  );
}

/** Returns 'committed', 'aborted', 'in progress' or 'forgotten'; undefined when the server does not answer before `giveUpAt`. */
async function outcomeOf(
  dataSource: DataSource,
  { id, server, begunAt }: TransactionIdentity,
  giveUpAt: number,
): Promise<string | null | undefined> {
  const lookup = dataSource.query<{ status: string | null }[]>(OUTCOME, [id, server, begunAt]).catch(() => undefined);
  const rows = await waitAtMost(giveUpAt - Date.now(), lookup, undefined);
  return rows?.[0]?.status;
}
