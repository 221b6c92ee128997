import { DomainError } from '#domain/shared/domain-error';
import type { DataSource } from 'typeorm';
import { sqlstates } from './sqlstates.ts';

const LOOKUPS = 20;
const POLL_EVERY_MS = 250;

/** Looks like what PostgreSQL says when a transaction must be run again, because that is what an aborted one needs. */
class CommitDidNotHappen extends Error {
  readonly code = sqlstates.serializationFailure;
}

/** A transaction as its server knows it. */
export interface BegunTransaction {
  readonly id: string;
  /** When that server was started: no other has the same. */
  readonly server: string;
  /** On the server's clock. */
  readonly begunAt: string;
}

/** What begins a transaction selects, to find out later what became of it. */
export const BEGUN = `pg_current_xact_id()::text as id, pg_postmaster_start_time()::text as server, now()::text as "begunAt"`;

/**
 * A server that recovers from a crash, and a promoted standby, give the number of a transaction whose log is lost to the next
 * one. So the number means our transaction only on the server it began on, if that has not crashed since. Its processes may
 * crash without the server being started again; then its statistics begin anew (docs/adr/0004).
 */
const OUTCOME = `
  select case when pg_postmaster_start_time() = $2::timestamptz and stats_reset <= $3::timestamptz then pg_xact_status($1::xid8)
              else 'forgotten' end as status
  from pg_stat_bgwriter`;

/**
 * The connection broke during COMMIT. PostgreSQL remembers how each transaction ended, so another connection asks for
 * it: committed → all is well; aborted → run the block again; no answer in time, be the server refusing or silent, or a server
 * that cannot know → nobody knows, and the caller is told so (the same key may be sent again).
 */
export async function resolveCommit(
  dataSource: DataSource,
  begun: BegunTransaction,
  { patienceMs, sleep }: { patienceMs: number; sleep: (ms: number) => Promise<void> },
): Promise<void> {
  const giveUpAt = Date.now() + patienceMs;
  for (let lookup = 0; lookup < LOOKUPS && Date.now() < giveUpAt; lookup += 1) {
    const status = await outcomeOf(dataSource, begun, giveUpAt);
    if (status === 'committed') return;
    if (status === 'aborted') throw new CommitDidNotHappen('The connection broke and the commit did not happen.');
    if (status === 'forgotten') break;
    await sleep(POLL_EVERY_MS);
  }
  throw new DomainError('OUTCOME_UNKNOWN', 'The database broke off while committing. Send the request again with the same key.');
}

/** Undefined when the server cannot be asked, or not in time. */
async function outcomeOf(
  dataSource: DataSource,
  { id, server, begunAt }: BegunTransaction,
  giveUpAt: number,
): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), giveUpAt - Date.now());
  });
  const asked = dataSource.query(OUTCOME, [id, server, begunAt]).then(
    (rows: { status: string | null }[]) => rows[0]?.status ?? undefined,
    () => undefined,
  );
  return Promise.race([asked, tooLate]).finally(() => clearTimeout(timer));
}
