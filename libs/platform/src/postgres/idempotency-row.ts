import { PostgresTransaction } from './transaction.ts';
import { KeyAlreadyUsed } from '#application/idempotency-key';
import type { RequestKey, StoredAnswer } from '../logging/request-context.ts';

/**
 * First statement of the effect's own transaction. It waits while another transaction has inserted the same key; if that one
 * commits, this one fails. The lock in Redis makes this rare; the unique row guarantees that the effect happens once (W5).
 */
export async function insertKey(tx: PostgresTransaction, requestKey: RequestKey): Promise<void> {
  const rows = await tx.rows(
    `insert into idempotency_keys (key, user_id, fingerprint) values ($1, $2, $3) on conflict (key) do nothing returning key`,
    [requestKey.key, requestKey.userId, requestKey.fingerprint],
  );
  if (rows.length === 0) throw new KeyAlreadyUsed(requestKey.key);
}

/** Last statement of the transaction: the answer commits with the effect. */
export async function storeAnswer(tx: PostgresTransaction, requestKey: RequestKey, result: unknown): Promise<void> {
  const answer = renderAnswer(requestKey, result);
  await tx.rows(`update idempotency_keys set status = $2, body = $3, location = $4 where key = $1`, [
    requestKey.key,
    answer.status,
    answer.body,
    answer.location ?? null,
  ]);
  requestKey.stored = answer;
}

interface CommandResult {
  readonly requestKey: RequestKey;
  readonly value: unknown;
}

/**
 * For a transaction that many requests share: inserts all keys with their answers in its last statement. If one key was used
 * meanwhile, the statement fails and the whole transaction is rolled back; then each request runs in a transaction of its own.
 * Returns a function that the caller runs after the commit: it marks each key as stored.
 */
export function storeAnswers(tx: PostgresTransaction, results: readonly CommandResult[]): () => void {
  const rows = results.map(({ requestKey, value }) => ({ requestKey, answer: renderAnswer(requestKey, value) }));
  if (rows.length > 0) {
    void tx.write(
      `insert into idempotency_keys (key, user_id, fingerprint, status, body, location)
       select * from unnest($1::text[], $2::uuid[], $3::text[], $4::int[], $5::text[], $6::text[])`,
      [
        rows.map(({ requestKey }) => requestKey.key),
        rows.map(({ requestKey }) => requestKey.userId),
        rows.map(({ requestKey }) => requestKey.fingerprint),
        rows.map(({ answer }) => answer.status),
        rows.map(({ answer }) => answer.body),
        rows.map(({ answer }) => answer.location ?? null),
      ],
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
