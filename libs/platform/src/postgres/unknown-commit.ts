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
 * The connection broke during COMMIT. PostgreSQL remembers how each transaction ended, so another connection asks for
 * it: committed → all is well; aborted → run the block again; no answer in time, be the server refusing or silent → nobody
 * knows, and the caller is told so (the same key may be sent again).
 */
export async function resolveCommit(
  dataSource: DataSource,
  transactionId: string,
  { patienceMs, sleep }: { patienceMs: number; sleep: (ms: number) => Promise<void> },
): Promise<void> {
  const giveUpAt = Date.now() + patienceMs;
  for (let lookup = 0; lookup < LOOKUPS && Date.now() < giveUpAt; lookup += 1) {
    const status = await outcomeOf(dataSource, transactionId, giveUpAt);
    if (status === 'committed') return;
    if (status === 'aborted') throw new CommitDidNotHappen('The connection broke and the commit did not happen.');
    await sleep(BETWEEN_LOOKUPS_MS);
  }
  throw new DomainError('OUTCOME_UNKNOWN', 'The database broke off while committing. Send the request again with the same key.');
}

/** Undefined when the server cannot be asked, or not in time. */
async function outcomeOf(dataSource: DataSource, transactionId: string, giveUpAt: number): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), giveUpAt - Date.now());
  });
  const asked = dataSource.query('select pg_xact_status($1::xid8) as status', [transactionId]).then(
    (rows: { status: string | null }[]) => rows[0]?.status ?? undefined,
    () => undefined,
  );
  return Promise.race([asked, tooLate]).finally(() => clearTimeout(timer));
}
