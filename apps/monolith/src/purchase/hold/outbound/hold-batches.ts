import { holdParameters } from './hold-parameters.ts';
import { HOLD_BATCH, type HoldRow, type HoldsWon } from './hold-statement.ts';
import type { WriterConnection } from './writer-connection.ts';
import { countFans, type FanAtMatch, type FanSeats } from './postgres-fan-seats.ts';
import { whyNotHeld, type HoldFacts } from './why-not-held.ts';

/** What became of a wish: its seats are its own until then, or what stood in its way, as far as that is known. */
export type HoldResult = { readonly expiresAt: Date } | { readonly facts: HoldFacts | undefined };

/** What a lane says to the database: take these, and what it needs to know when some could not be taken. */
export class HoldBatches {
  constructor(
    private readonly connection: WriterConnection,
    private readonly holdSeconds: number,
  ) {}

  /** In the order of the rows. */
  async take(rows: readonly HoldRow[]): Promise<readonly HoldResult[]> {
    const results: (HoldResult | undefined)[] = rows.map(() => undefined);
    const withSeats = rows.flatMap((row, at) => (row.seats.length > 0 ? at : []));
    for (const { indices, expiresAtMs } of await this.commit(withSeats.map((at) => rows[at]!))) {
      const won = { expiresAt: new Date(expiresAtMs) };
      for (const index of indices.split(',')) results[withSeats[Number(index) - 1]!] = won;
    }
    const lost = rows.flatMap((_, at) => (results[at] ? [] : at));
    const facts = lost.length > 0 ? await this.whyNot(lost.map((at) => rows[at]!)) : [];
    for (const [position, at] of lost.entries()) results[at] = { facts: facts[position] };
    return results as HoldResult[];
  }

  fans(fans: readonly FanAtMatch[]): Promise<readonly FanSeats[]> {
    return this.connection.look<FanSeats>(countFans(fans));
  }

  /** Of these idempotency keys those that were used before. */
  async used(keys: readonly string[]): Promise<ReadonlySet<string>> {
    const text = 'select key from idempotency_keys where key = any($1::text[])';
    const rows = await this.connection.look<{ key: string }>({ name: 'used-keys', text, values: [keys] });
    return new Set(rows.map(({ key }) => key));
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  private async commit(rows: readonly HoldRow[]): Promise<readonly HoldsWon[]> {
    if (rows.length === 0) return [];
    const statement = { name: 'hold-batch', text: HOLD_BATCH, values: holdParameters(rows, this.holdSeconds) };
    return this.connection.commit<HoldsWon>(statement, async (client) => {
      const found = await client.query<HoldsWon>(
        `select string_agg(array_position($1::uuid[], id)::text, ',') as indices, date_part('epoch', expires_at) * 1000 as "expiresAtMs"
         from reservations where id = any($1::uuid[]) group by expires_at`,
        [rows.map(({ reservationId }) => reservationId)],
      );
      // It was committed if any is there; the others lost and simply ask again.
      return found.rows.length > 0 ? found.rows : undefined;
    });
  }

  /** What was taken is taken, whether or not this can be answered. */
  private async whyNot(rows: readonly HoldRow[]): Promise<readonly (HoldFacts | undefined)[]> {
    const found = await this.connection.look<{ index: number; facts: HoldFacts }>(whyNotHeld(rows)).catch(() => []);
    const facts = new Map(found.map((row) => [row.index - 1, row.facts]));
    return rows.map((_, at) => facts.get(at));
  }
}
