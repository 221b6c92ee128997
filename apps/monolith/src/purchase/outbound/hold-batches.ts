import { HOLD_BATCH, holdParameters, type HoldResult, type HoldRow } from './hold-statement.ts';
import type { LaneConnection } from './lane-connection.ts';
import { countFans, type FanAtMatch, type FanSeats } from './postgres-fan-seats.ts';

/** What a lane says to the database: take these, and what it needs to know when some could not be taken. */
export class HoldBatches {
  constructor(
    private readonly connection: LaneConnection,
    private readonly holdSeconds: number,
  ) {}

  take(rows: readonly HoldRow[]): Promise<HoldResult[]> {
    const ids = rows.map(({ reservationId }) => reservationId);
    const statement = { name: 'hold-batch', text: HOLD_BATCH, values: holdParameters(rows, this.holdSeconds) };
    return this.connection.commit<HoldResult>(statement, async (client) => {
      const found = await client.query<{ id: string; expires_at: Date }>(
        `select id, expires_at from reservations where id = any($1::uuid[])`,
        [ids],
      );
      if (found.rows.length === 0) return undefined;
      // It was committed: those that are there were won; the others lost and simply ask again.
      const known = new Map(found.rows.map((row) => [row.id, row]));
      return rows.map(({ reservationId }, index) => ({
        index,
        expiresAtMs: known.get(reservationId)?.expires_at.getTime() ?? null,
        facts: null,
      }));
    });
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
}
