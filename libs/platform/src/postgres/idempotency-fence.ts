import { PostgresTransaction } from './transaction.ts';
import type { IdempotencyFence } from '../logging/request-context.ts';

/** Somebody else finished a request with this key first; what they were answered is the answer. */
export class KeyAlreadyUsed extends Error {
  constructor(readonly key: string) {
    super('The idempotency key was used by a request that finished first.');
  }
}

/**
 * First statement of the effect's own transaction: whoever else holds this key is waited for, and if they commit this
 * transaction ends here. Redis' lock makes that rare; this row makes it impossible to happen twice (W5).
 */
export async function takeKey(tx: PostgresTransaction, fence: IdempotencyFence): Promise<void> {
  const rows = await tx.rows(
    `insert into idempotency_keys (key, user_id, fingerprint) values ($1, $2, $3) on conflict (key) do nothing returning key`,
    [fence.key, fence.userId, fence.fingerprint],
  );
  if (rows.length === 0) throw new KeyAlreadyUsed(fence.key);
}

/** Last statement: what the caller gets is committed with what was done. */
export async function storeAnswer(tx: PostgresTransaction, fence: IdempotencyFence, result: unknown): Promise<void> {
  if (!fence.render) throw new Error('A transaction answers a request whose controller did not say how: use Answers.');
  const answer = fence.render(result);
  await tx.rows(`update idempotency_keys set status = $2, body = $3, location = $4 where key = $1`, [
    fence.key,
    answer.status,
    answer.body,
    answer.location ?? null,
  ]);
  fence.stored = answer;
}
