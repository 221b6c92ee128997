import type { EffectOutcome, LoadedEffect } from '#application/loaded-effect';
import type { Transaction, TransactionManager } from '#application/transaction-manager';
import type { PartnerSoldSeat, SeatHints, PartnerSoldSeats } from './ports.ts';
import { conflictOf, firstHoldEnd, type PartnerSale } from './seat-conflicts.ts';

interface Blocked extends EffectOutcome {
  readonly seats: readonly PartnerSoldSeat[];
}

/**
 * Blocks the seats that a partner has sold, so that nobody can buy them here. A seat that a fan holds or has bought here stays
 * with that fan, and a conflict is recorded. For a held seat the event is applied again when the hold ends: if it ended unpaid,
 * the seat is then blocked and the conflict is gone.
 */
export class BlockPartnerSoldSeats {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly seats: PartnerSoldSeats,
    private readonly hints: SeatHints,
  ) {}

  async execute(sale: PartnerSale, effect: LoadedEffect): Promise<EffectOutcome> {
    const { seats, ...outcome } = await this.transactions.run((tx) => this.block(tx, sale, effect));
    if (seats.length > 0) this.hints.gone(seats);
    return outcome;
  }

  private async block(tx: Transaction, sale: PartnerSale, effect: LoadedEffect): Promise<Blocked> {
    if (!(await effect.begin(tx))) return { seats: [], conflicts: [] };
    const known = new Map((await this.seats.lock(tx, sale.matchId, sale.seatIds)).map((seat) => [seat.seatId, seat]));
    const free = [...known.values()].filter(({ status }) => status === 'available');
    if (free.length > 0) {
      const { source, eventId } = effect;
      await this.seats.block(tx, { source, eventId, reference: sale.reference, matchId: sale.matchId }, free);
    }
    const conflicts = sale.seatIds.flatMap((seatId) => conflictOf(seatId, known.get(seatId), sale, effect.source) ?? []);
    const again = firstHoldEnd([...known.values()]);
    await effect.end(tx, { conflicts, ...(again ? { again } : {}) });
    return { seats: free, conflicts, ...(again ? { again } : {}) };
  }
}
