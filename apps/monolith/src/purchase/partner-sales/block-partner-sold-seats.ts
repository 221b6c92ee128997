import type { EffectOutcome, LoadedEffect } from '#application/loaded-effect';
import type { Transaction, TransactionManager } from '#application/transaction-manager';
import { partnerSale } from '#contracts/partner-sales';
import { RequestRefused } from '#platform/http/request-refused';
import { inside } from '#platform/postgres/transaction';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { broadcastBlocked } from '../hold/outbound/seat-change-broadcast.ts';
import type { PartnerSalesApi } from '../partner-sales.api.ts';
import { LOCK_SEATS, type PartnerSoldSeat } from './partner-sold-seats.sql.ts';
import { conflictOf, firstHoldEnd, type PartnerSale } from './seat-conflicts.ts';

interface Blocked {
  readonly seats: readonly PartnerSoldSeat[];
  readonly outcome: EffectOutcome;
}

/**
 * Blocks the seats that a partner has sold, so that nobody can buy them here. A seat that a fan holds or has bought here stays
 * with that fan, and a conflict is recorded. For a held seat the event is applied again when the hold ends: if it ended unpaid,
 * the seat is then blocked and the conflict is gone.
 */
export class BlockPartnerSoldSeats implements PartnerSalesApi {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly redis: RedisConnection,
  ) {}

  /** Checks a sale that the event loader fetched, and applies it. */
  async apply(loaded: unknown, effect: LoadedEffect): Promise<EffectOutcome> {
    const parsed = partnerSale.safeParse(loaded);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const detail = `This is not a valid sale: ${issue?.path.join('.')} ${issue?.message}`;
      throw new RequestRefused('VALIDATION_FAILED', { detail });
    }
    const { match_id: matchId, reference, seat_ids: seatIds } = parsed.data;
    const { seats, outcome } = await this.transactions.run((tx) => this.block(tx, { matchId, reference, seatIds }, effect));
    const blocked: Record<string, string[]> = {};
    for (const { sectorId, seatId } of seats) (blocked[sectorId] ??= []).push(seatId);
    if (seats.length > 0) broadcastBlocked(this.redis, blocked);
    return outcome;
  }

  private async block(tx: Transaction, sale: PartnerSale, effect: LoadedEffect): Promise<Blocked> {
    if (!(await effect.begin(tx))) return { seats: [], outcome: { conflicts: [] } };
    const known = await inside(tx).rows<PartnerSoldSeat>(LOCK_SEATS.with(sale));
    const free = known.filter(({ status }) => status === 'available');
    if (free.length > 0) await blockSeats(tx, free, sale, effect);
    const seatOf = new Map(known.map((seat) => [seat.seatId, seat]));
    const conflicts = sale.seatIds.flatMap((seatId) => conflictOf(seatId, seatOf.get(seatId), sale, effect.source) ?? []);
    const again = firstHoldEnd(known);
    const outcome = { conflicts, ...(again ? { again } : {}) };
    await effect.end(tx, outcome);
    return { seats: free, outcome };
  }
}

/** Takes locked seats off sale, and records which partner sold them. A seat that was unblocked still has the row of its old sale. */
async function blockSeats(
  tx: Transaction,
  seats: readonly PartnerSoldSeat[],
  { matchId, reference }: PartnerSale,
  { source, eventId }: LoadedEffect,
): Promise<void> {
  const seatIds = seats.map(({ seatId }) => seatId);
  const block = `update seats set status = 'blocked', reservation_id = null, expires_at = null where id = any($1::uuid[])`;
  await inside(tx).rows(block, [seatIds]);
  await inside(tx).rows(
    `insert into seat_blocks (seat_id, match_id, source, event_id, reference)
     select id, $2, $3, $4, $5 from unnest($1::uuid[]) as s(id)
     on conflict (seat_id) do update set source = excluded.source, event_id = excluded.event_id, reference = excluded.reference,
       blocked_at = now()`,
    [seatIds, matchId, source, eventId, reference],
  );
}
