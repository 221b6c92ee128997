import { PostgresTransaction } from './transaction.ts';
import { KeyAlreadyUsed } from '#application/idempotency-key';
import type { IdempotencyKey, StoredAnswer } from '../logging/request-context.ts';

/**
 * First statement of the effect's own transaction. It waits while another transaction has inserted the same key; if that one
 * commits, this one fails. The lock in Redis makes this rare; the unique row guarantees that the effect happens once (W5).
 */
export async function insertKey(tx: PostgresTransaction, idempotencyKey: IdempotencyKey): Promise<void> {
  const rows = await tx.rows(
    `insert into idempotency_keys (key, user_id, fingerprint) values ($1, $2, $3) on conflict (key) do nothing returning key`,
    [idempotencyKey.key, idempotencyKey.userId, idempotencyKey.fingerprint],
  );
  if (rows.length === 0) throw new KeyAlreadyUsed(idempotencyKey.key);
}

/** Last statement of the transaction: the answer commits with the effect. */
export async function storeAnswer(tx: PostgresTransaction, idempotencyKey: IdempotencyKey, result: unknown): Promise<void> {
  const answer = renderAnswer(idempotencyKey, result);
  await tx.rows(`update idempotency_keys set status = $2, body = $3, location = $4 where key = $1`, [
    idempotencyKey.key,
    answer.status,
    answer.body,
    answer.location ?? null,
  ]);
  idempotencyKey.stored = answer;
}

interface CommandResult {
  readonly idempotencyKey: IdempotencyKey;
  readonly value: unknown;
}

/**
 * For a transaction that many requests share: inserts all keys with their answers in its last statement. If one key was used
 * meanwhile, the statement fails and the whole transaction is rolled back; then each request runs in a transaction of its own.
 * Returns a function that the caller runs after the commit: it marks each key as stored.
 */
export function storeAnswers(tx: PostgresTransaction, results: readonly CommandResult[]): () => void {
  const rows = results.map(({ idempotencyKey, value }) => ({ idempotencyKey, answer: renderAnswer(idempotencyKey, value) }));
  if (rows.length > 0) {
    void tx.write(
      `insert into idempotency_keys (key, user_id, fingerprint, status, body, location)
       select * from unnest($1::text[], $2::uuid[], $3::text[], $4::int[], $5::text[], $6::text[])`,
      [
        rows.map(({ idempotencyKey }) => idempotencyKey.key),
        rows.map(({ idempotencyKey }) => idempotencyKey.userId),
        rows.map(({ idempotencyKey }) => idempotencyKey.fingerprint),
        rows.map(({ answer }) => answer.status),
        rows.map(({ answer }) => answer.body),
        rows.map(({ answer }) => answer.location ?? null),
      ],
    );
  }
  return () => {
    for (const { idempotencyKey, answer } of rows) idempotencyKey.stored = answer;
  };
}

function renderAnswer(idempotencyKey: IdempotencyKey, result: unknown): StoredAnswer {
  if (!idempotencyKey.render) throw new Error('The controller did not set how to render the answer: use Answers.');
  return idempotencyKey.render(result);
}
