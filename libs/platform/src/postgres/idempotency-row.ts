import { PostgresTransaction } from './transaction.ts';
import { KeyAlreadyUsed } from '#application/idempotency-key';
import type { IdempotencyKey, StoredAnswer } from '../logging/request-context.ts';

/**
 * First statement of the effect's own transaction: whoever else holds this key is waited for, and if they commit this
 * transaction ends here. Redis' lock makes that rare; this row makes it impossible to happen twice (W5).
 */
export async function takeKey(tx: PostgresTransaction, fence: IdempotencyKey): Promise<void> {
  const rows = await tx.rows(
    `insert into idempotency_keys (key, user_id, fingerprint) values ($1, $2, $3) on conflict (key) do nothing returning key`,
    [fence.key, fence.userId, fence.fingerprint],
  );
  if (rows.length === 0) throw new KeyAlreadyUsed(fence.key);
}

/** Last statement: what the caller gets is committed with what was done. */
export async function storeAnswer(tx: PostgresTransaction, fence: IdempotencyKey, result: unknown): Promise<void> {
  const answer = rendered(fence, result);
  await tx.rows(`update idempotency_keys set status = $2, body = $3, location = $4 where key = $1`, [
    fence.key,
    answer.status,
    answer.body,
    answer.location ?? null,
  ]);
  fence.stored = answer;
}

interface Answered {
  readonly fence: IdempotencyKey;
  readonly value: unknown;
}

/**
 * The same for many requests that share a transaction: keys and answers in its last statement. A key that was used meanwhile
 * fails it and so undoes all of it, and each request is decided again by itself. Returns what is to be done once it is committed.
 */
export function storeAnswers(tx: PostgresTransaction, answered: readonly Answered[]): () => void {
  const rows = answered.map(({ fence, value }) => ({ fence, answer: rendered(fence, value) }));
  if (rows.length > 0) {
    void tx.write(
      `insert into idempotency_keys (key, user_id, fingerprint, status, body, location)
       select * from unnest($1::text[], $2::uuid[], $3::text[], $4::int[], $5::text[], $6::text[])`,
      [
        rows.map(({ fence }) => fence.key),
        rows.map(({ fence }) => fence.userId),
        rows.map(({ fence }) => fence.fingerprint),
        rows.map(({ answer }) => answer.status),
        rows.map(({ answer }) => answer.body),
        rows.map(({ answer }) => answer.location ?? null),
      ],
    );
  }
  return () => {
    for (const { fence, answer } of rows) fence.stored = answer;
  };
}

function rendered(fence: IdempotencyKey, result: unknown): StoredAnswer {
  if (!fence.render) throw new Error('A transaction answers a request whose controller did not say how: use Answers.');
  return fence.render(result);
}
