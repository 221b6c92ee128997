import { DomainError } from '#domain/shared/domain-error';
import type { Registry } from 'prom-client';
import { Counter } from 'prom-client';
import type { Reservation } from '../../application/ports.ts';
import type { SeatViews } from '../../availability/application/availability-reader.ts';
import type { SeatsFreed } from '../application/ports.ts';

/** What this process hears of holds: those who count, how they ended; those who look at seats, where some changed hands. */
export class HoldObserver {
  private readonly holds: Counter<'outcome'>;

  constructor(
    registry: Registry,
    private readonly views: SeatViews,
    private readonly seatsFreed: SeatsFreed,
  ) {
    this.holds = new Counter({
      name: 'reservations_total',
      help: 'Wishes for seats, by what became of them.',
      labelNames: ['outcome'],
      registers: [registry],
    });
  }

  /** Held, or the code it was refused with. */
  async of(hold: Promise<Reservation>): Promise<Reservation> {
    try {
      const held = await hold;
      this.holds.inc({ outcome: 'held' });
      this.views.changed(held.matchId, held.sectorId);
      return held;
    } catch (error) {
      this.holds.inc({ outcome: error instanceof DomainError ? error.code.toLowerCase() : 'failed' });
      throw error;
    }
  }

  /** What was sold has no end by which who sells would know that it is free. */
  async ofRefund<T extends { readonly reservation: Reservation; readonly ticketIds: readonly string[] }>(
    refund: Promise<T>,
  ): Promise<T> {
    const refunded = await refund;
    const { matchId, sectorId } = refunded.reservation;
    if (refunded.ticketIds.length > 0) {
      this.views.changed(matchId, sectorId);
      this.seatsFreed.tellFreed(sectorId);
    }
    return refunded;
  }

  async ofRelease(release: Promise<Reservation>): Promise<void> {
    const { matchId, sectorId } = await release;
    this.views.changed(matchId, sectorId);
  }
}
