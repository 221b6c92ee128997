import type { EffectOutcome, LoadedEffect } from '#application/loaded-effect';
import type { Transaction, TransactionManager } from '#application/transaction-manager';
import type { ElsewhereSeat, SeatHints, SeatsElsewhere } from './ports.ts';
import { conflictOf, firstEnd, type SoldElsewhere } from './seat-conflicts.ts';

interface Blocked extends EffectOutcome {
  readonly seats: readonly ElsewhereSeat[];
}

/**
 * Seats a partner has sold are ours to sell no more. One that has somebody here stays theirs, and is a conflict: who is paying
 * for a seat has been promised it. When such a hold ends unpaid the seat is blocked after all, and the conflict resolves itself.
 */
export class BlockSoldElsewhere {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly seats: SeatsElsewhere,
    private readonly hints: SeatHints,
  ) {}

  async execute(sale: SoldElsewhere, effect: LoadedEffect): Promise<EffectOutcome> {
    const { seats, ...outcome } = await this.transactions.run((tx) => this.block(tx, sale, effect));
    if (seats.length > 0) this.hints.gone(seats);
    return outcome;
  }

  private async block(tx: Transaction, sale: SoldElsewhere, effect: LoadedEffect): Promise<Blocked> {
    if (!(await effect.begin(tx))) return { seats: [], conflicts: [] };
    const known = new Map((await this.seats.lock(tx, sale.matchId, sale.seatIds)).map((seat) => [seat.seatId, seat]));
    const free = [...known.values()].filter(({ status }) => status === 'available');
    if (free.length > 0) {
      const told = { source: effect.source, eventId: effect.eventId, reference: sale.reference, matchId: sale.matchId };
      await this.seats.block(tx, told, free);
    }
    const conflicts = sale.seatIds.flatMap((seatId) => conflictOf(seatId, known.get(seatId), sale, effect.source) ?? []);
    const again = firstEnd([...known.values()]);
    await effect.end(tx, { conflicts, ...(again ? { again } : {}) });
    return { seats: free, conflicts, ...(again ? { again } : {}) };
  }
}
