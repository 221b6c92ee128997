import { DomainError } from '#domain/shared/domain-error';
import type { DataSource } from 'typeorm';
import { sqlstates } from './sqlstates.ts';

const LOOKUPS = 20;
const BETWEEN_LOOKUPS_MS = 250;

/** Looks like what PostgreSQL says when a transaction must be run again, because that is what an aborted one needs. */
class CommitDidNotHappen extends Error {
  readonly code = sqlstates.serializationFailure;
}

/**
 * The connection broke during COMMIT. PostgreSQL remembers how each transaction ended, so a new connection asks for
 * it: committed → all is well; aborted → run the block again; no answer in five seconds → nobody knows, and the caller is
 * told so (the same key may be sent again).
 */
export async function resolveCommit(dataSource: DataSource, transactionId: string, sleep: (ms: number) => Promise<void>): Promise<void> {
  for (let lookup = 0; lookup < LOOKUPS; lookup += 1) {
    const status = await outcomeOf(dataSource, transactionId);
    if (status === 'committed') return;
    if (status === 'aborted') throw new CommitDidNotHappen('The connection broke and the commit did not happen.');
    await sleep(BETWEEN_LOOKUPS_MS);
  }
  throw new DomainError('OUTCOME_UNKNOWN', 'The database broke off while committing. Send the request again with the same key.');
}

async function outcomeOf(dataSource: DataSource, transactionId: string): Promise<string | undefined> {
  try {
    const rows = (await dataSource.query('select pg_xact_status($1::xid8) as status', [transactionId])) as { status: string | null }[];
    return rows[0]?.status ?? undefined;
  } catch {
    return undefined;
  }
}
