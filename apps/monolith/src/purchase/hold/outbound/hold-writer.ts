import { namedSql } from '#platform/postgres/named-sql';
import { COUNT_FAN_SEATS, type FanSeats } from './fan-seats.sql.ts';
import { holdBatchParameters, whyNotHeldParameters, type HoldRow } from './hold-batch-parameters.ts';
import { HOLD_BATCH, type HeldRequests } from './hold-batch.sql.ts';
import { WHY_NOT_HELD, type HoldFacts, type WhyNotHeldRow } from './why-not-held.sql.ts';
import type { WriterConnection } from './writer-connection.ts';

/**
 * Result of one request: its seats are held until `expiresAt`, or they are not held because of `facts` (undefined if unreadable).
 */
export type HoldResult = { readonly expiresAt: Date } | { readonly facts: HoldFacts | undefined };

/** Finds which reservations of a batch exist. The result has the same form as that of HOLD_BATCH. */
const FIND_RESERVATIONS = namedSql<{ readonly ids: readonly string[] }>(
  'find-reservations',
  `select string_agg(array_position(:ids::uuid[], id)::text, ',') as indices, date_part('epoch', expires_at) * 1000 as "expiresAtMs"
   from reservations where id = any(:ids::uuid[]) group by expires_at`,
);

const FIND_USED_KEYS = namedSql<{ readonly keys: readonly string[] }>(
  'find-used-keys',
  `select key from idempotency_keys where key = any(:keys::text[])`,
);

/** Runs the statements of a batch on one writer connection. */
export class HoldWriter {
  constructor(
    private readonly connection: WriterConnection,
    private readonly holdSeconds: number,
  ) {}

  /** Commits the batch. The results are in the order of `rows`. */
  async hold(rows: readonly HoldRow[]): Promise<readonly HoldResult[]> {
    const results: (HoldResult | undefined)[] = rows.map(() => undefined);
    const withSeats = rows.flatMap((row, at) => (row.proposed.length > 0 ? at : []));
    for (const { indices, expiresAtMs } of await this.commit(withSeats.map((at) => rows[at]!))) {
      const held = { expiresAt: new Date(expiresAtMs) };
      for (const index of indices.split(',')) results[withSeats[Number(index) - 1]!] = held;
    }
    const notHeld = rows.flatMap((_, at) => (results[at] ? [] : at));
    const facts = notHeld.length > 0 ? await this.readFacts(notHeld.map((at) => rows[at]!)) : [];
    for (const [position, at] of notHeld.entries()) results[at] = { facts: facts[position] };
    return results as HoldResult[];
  }

  /** Counts the seats of each fan at a match. The results are in the order of `fans`. */
  countFanSeats(fans: readonly { readonly matchId: string; readonly userId: string }[]): Promise<readonly FanSeats[]> {
    const matchIds = fans.map(({ matchId }) => matchId);
    const userIds = fans.map(({ userId }) => userId);
    return this.connection.read<FanSeats>(COUNT_FAN_SEATS.with({ matchIds, userIds }));
  }

  /** Returns those of the idempotency keys that are already committed. */
  async usedKeys(keys: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.connection.read<{ key: string }>(FIND_USED_KEYS.with({ keys }));
    return new Set(rows.map(({ key }) => key));
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  private async commit(rows: readonly HoldRow[]): Promise<readonly HeldRequests[]> {
    if (rows.length === 0) return [];
    const ids = rows.map(({ reservationId }) => reservationId);
    return this.connection.commit<HeldRequests>(HOLD_BATCH.with(holdBatchParameters(rows, this.holdSeconds)), async (client) => {
      const found = await client.query<HeldRequests>(FIND_RESERVATIONS.with({ ids }));
      // One existing reservation shows that the batch was committed. Requests without a reservation were not held; they are tried
      // again.
      return found.rows.length > 0 ? found.rows : undefined;
    });
  }

  /**
   * Reads why requests were not held. An error is ignored: other requests of the batch are committed, so the batch must not fail.
   */
  private async readFacts(rows: readonly HoldRow[]): Promise<readonly (HoldFacts | undefined)[]> {
    const statement = WHY_NOT_HELD.with(whyNotHeldParameters(rows));
    const found = await this.connection.read<WhyNotHeldRow>(statement).catch(() => []);
    const facts = new Map(found.map((row) => [row.index - 1, row.facts]));
    return rows.map((_, at) => facts.get(at));
  }
}
