import type { Transaction } from '#application/transaction-manager';
import type { SandboxIntentStatus } from '../domain/sandbox-intent.ts';
import { inside } from '#platform/postgres/transaction';
import { SandboxIntents, type SandboxIntent } from '../application/ports.ts';
import {
  ADD_INTENT_ONCE,
  ADD_NEW_INTENTS,
  LOCK_AVAILABLE_INTENTS,
  LOCK_INTENT,
  SET_INTENT_STATUS,
} from './sandbox-intents.sql.ts';

/** The payment intents of the sandbox, the simulated payment provider, in the table `sandbox_intents`. */
export class PostgresSandboxIntents extends SandboxIntents {
  async addOnce(tx: Transaction, intent: Omit<SandboxIntent, 'status'>): Promise<SandboxIntent> {
    const [row] = await inside(tx).rows<SandboxIntent>(ADD_INTENT_ONCE.with(intent));
    if (!row) throw new Error('The upsert returned no row.');
    return row;
  }

  async addNew(tx: Transaction, intents: readonly Omit<SandboxIntent, 'status'>[]): Promise<ReadonlyMap<string, SandboxIntent>> {
    const rows = await inside(tx).rows<SandboxIntent>(ADD_NEW_INTENTS.with({ intents: JSON.stringify(intents) }));
    return new Map(rows.map((row) => [row.id, row]));
  }

  async lock(tx: Transaction, intentId: string): Promise<SandboxIntent | undefined> {
    const [intent] = await inside(tx).rows<SandboxIntent>(LOCK_INTENT.with({ intentId }));
    return intent;
  }

  async lockAvailable(tx: Transaction, intentIds: readonly string[]): Promise<ReadonlyMap<string, SandboxIntent>> {
    const rows = await inside(tx).rows<SandboxIntent>(LOCK_AVAILABLE_INTENTS.with({ intentIds }));
    return new Map(rows.map((row) => [row.id, row]));
  }

  setStatus(tx: Transaction, intentIds: readonly string[], status: SandboxIntentStatus): Promise<void> {
    return inside(tx).write(SET_INTENT_STATUS.with({ intentIds, status }));
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
