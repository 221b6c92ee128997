import type { Transaction } from '#application/transaction-manager';
import type { SandboxIntentStatus } from '../domain/sandbox-intent.ts';
import { inside } from '#platform/postgres/transaction';
import { SandboxIntents, type SandboxIntent } from '../application/ports.ts';

const COLUMNS = `id, order_id as "orderId", amount_cents as "amountCents", currency, status, client_secret as "clientSecret"`;

export class PostgresSandboxIntents extends SandboxIntents {
  async addOnce(tx: Transaction, intent: Omit<SandboxIntent, 'status'>): Promise<SandboxIntent> {
    const { id, orderId, amountCents, currency, clientSecret } = intent;
    // The update changes nothing. Without it, `returning` would not return an intent that existed before.
    const rows = await inside(tx).rows<SandboxIntent>(
      `insert into sandbox_intents (id, order_id, amount_cents, currency, client_secret) values ($1, $2, $3, $4, $5)
       on conflict (order_id) do update set order_id = excluded.order_id
       returning ${COLUMNS}`,
      [id, orderId, amountCents, currency, clientSecret],
    );
    const [row] = rows;
    if (!row) throw new Error('The upsert returned no row.');
    return row;
  }

  async addNew(tx: Transaction, intents: readonly Omit<SandboxIntent, 'status'>[]): Promise<ReadonlyMap<string, SandboxIntent>> {
    const rows = await inside(tx).rows<SandboxIntent>(
      `insert into sandbox_intents (id, order_id, amount_cents, currency, client_secret)
       select id, "orderId", "amountCents", currency, "clientSecret"
       from jsonb_to_recordset($1::jsonb) as i(id text, "orderId" uuid, "amountCents" integer, currency text, "clientSecret" text)
       on conflict (order_id) do nothing returning ${COLUMNS}`,
      [JSON.stringify(intents)],
    );
    return new Map(rows.map((row) => [row.id, row]));
  }

  async lock(tx: Transaction, intentId: string): Promise<SandboxIntent | undefined> {
    const rows = await inside(tx).rows<SandboxIntent>(`select ${COLUMNS} from sandbox_intents where id = $1 for update`, [
      intentId,
    ]);
    return rows[0];
  }

  async lockAvailable(tx: Transaction, intentIds: readonly string[]): Promise<ReadonlyMap<string, SandboxIntent>> {
    const rows = await inside(tx).rows<SandboxIntent>(
      `select ${COLUMNS} from sandbox_intents where id = any($1) for update skip locked`,
      [intentIds],
    );
    return new Map(rows.map((row) => [row.id, row]));
  }

  setStatus(tx: Transaction, intentIds: readonly string[], status: SandboxIntentStatus): Promise<void> {
    return inside(tx).write(`update sandbox_intents set status = $2 where id = any($1)`, [intentIds, status]);
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
