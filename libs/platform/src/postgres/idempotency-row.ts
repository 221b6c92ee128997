import type { PostgresTransaction } from './transaction.ts';
import { KeyAlreadyUsed } from '#application/idempotency-key';
import { INSERT_KEY, INSERT_KEYS_WITH_ANSWERS, STORE_ANSWER } from './idempotency-keys.sql.ts';
import type { RequestKey, StoredAnswer } from '../logging/request-context.ts';

/**
 * Inserts the key of a request, as the first statement of the request's transaction. It waits while another transaction has
 * inserted the same key, and throws if that transaction commits. The lock in Redis makes such a conflict rare; the unique key
 * guarantees that the effect happens once.
 */
export async function insertKey(tx: PostgresTransaction, requestKey: RequestKey): Promise<void> {
  const { key, userId, fingerprint } = requestKey;
  const rows = await tx.rows(INSERT_KEY.with({ key, userId, fingerprint }));
  if (rows.length === 0) throw new KeyAlreadyUsed(key);
}

/**
 * Stores the answer to a request, as the last statement of its transaction: the answer commits with the effect. It shares a round trip
 * with the COMMIT, which fails if it fails.
 */
export async function storeAnswer(tx: PostgresTransaction, requestKey: RequestKey, result: unknown): Promise<void> {
  const answer = renderAnswer(requestKey, result);
  const { status, body, location = null } = answer;
  await tx.write(STORE_ANSWER.with({ key: requestKey.key, status, body, location }));
  requestKey.stored = answer;
}

/**
 * Inserts the keys of many requests with their answers, as the last statement of a transaction that these requests share. If one
 * key was used meanwhile, the statement fails and the whole transaction is rolled back; then each request runs in a transaction
 * of its own. Returns a function that the caller runs after the commit: it marks each key as stored.
 */
export function storeAnswers(
  tx: PostgresTransaction,
  results: readonly { readonly requestKey: RequestKey; readonly value: unknown }[],
): () => void {
  const rows = results.map(({ requestKey, value }) => ({ requestKey, answer: renderAnswer(requestKey, value) }));
  if (rows.length > 0) {
    void tx.write(
      INSERT_KEYS_WITH_ANSWERS.with({
        keys: rows.map(({ requestKey }) => requestKey.key),
        userIds: rows.map(({ requestKey }) => requestKey.userId),
        fingerprints: rows.map(({ requestKey }) => requestKey.fingerprint),
        statuses: rows.map(({ answer }) => answer.status),
        bodies: rows.map(({ answer }) => answer.body),
        locations: rows.map(({ answer }) => answer.location ?? null),
      }),
    );
  }
  return () => {
    for (const { requestKey, answer } of rows) requestKey.stored = answer;
  };
}

function renderAnswer(requestKey: RequestKey, result: unknown): StoredAnswer {
  if (!requestKey.render) throw new Error('The controller did not set how to render the answer: use Answers.');
  return requestKey.render(result);
}
