import type { Transaction } from '#application/transaction-manager';
import type { NewSandboxIntent, SandboxIntent, SandboxIntentStatus } from '../domain/sandbox-intent.ts';
import { inside } from '#platform/postgres/transaction';
import * as sql from './sandbox-intents.sql.ts';

/** The intents and refunds of the sandbox, which a real provider would store itself, in the table `sandbox_intents`. */
export class SandboxIntents {
  /** Adds the intent, unless the order has one. Returns the intent of the order. */
  async addOnce(tx: Transaction, intent: NewSandboxIntent): Promise<SandboxIntent> {
    const [row] = await inside(tx).rows<SandboxIntent>(sql.ADD_INTENT_ONCE.with(intent));
    if (!row) throw new Error('The upsert returned no row.');
    return row;
  }

  /** Adds the intents of many different orders at once. The result lacks orders that had an intent already. */
  async addNew(tx: Transaction, intents: readonly NewSandboxIntent[]): Promise<ReadonlyMap<string, SandboxIntent>> {
    const rows = await inside(tx).rows<SandboxIntent>(sql.ADD_NEW_INTENTS.with({ intents: JSON.stringify(intents) }));
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** Returns the intent, locked until the transaction ends. */
  async lock(tx: Transaction, intentId: string): Promise<SandboxIntent | undefined> {
    const [intent] = await inside(tx).rows<SandboxIntent>(sql.LOCK_INTENT.with({ intentId }));
    return intent;
  }

  /** Locks and returns the intents that no other transaction has locked. Does not wait for the locked ones. */
  async lockAvailable(tx: Transaction, intentIds: readonly string[]): Promise<ReadonlyMap<string, SandboxIntent>> {
    const rows = await inside(tx).rows<SandboxIntent>(sql.LOCK_AVAILABLE_INTENTS.with({ intentIds }));
    return new Map(rows.map((row) => [row.id, row]));
  }

  setStatus(tx: Transaction, intentIds: readonly string[], status: SandboxIntentStatus): Promise<void> {
    return inside(tx).write(sql.SET_INTENT_STATUS.with({ intentIds, status }));
  }

  async refunds(tx: Transaction, intentId: string): Promise<readonly { key: string; amountCents: number }[]> {
    return inside(tx).rows(`select key, amount_cents as "amountCents" from sandbox_refunds where intent_id = $1`, [intentId]);
  }

  async addRefund(tx: Transaction, refund: { key: string; intentId: string; amountCents: number }): Promise<void> {
    await inside(tx).rows(`insert into sandbox_refunds (key, intent_id, amount_cents) values ($1, $2, $3)`, [
      refund.key,
      refund.intentId,
      refund.amountCents,
    ]);
  }
}
