import { DomainError } from '#domain/shared/domain-error';
import { Counter, type Registry } from 'prom-client';
import type { Reservation } from '../../application/ports.ts';
import type { SeatsFreed } from '../application/ports.ts';

/** Counts hold requests by their outcome, and invalidates the cached seats when this process has taken or freed seats. */
export class HoldObserver {
  private readonly holds: Counter<'outcome'>;

  constructor(
    { registry }: { readonly registry: Registry },
    private readonly seatCaches: { invalidate(matchId: string, sectorId?: string): void },
    private readonly seatsFreed: SeatsFreed,
  ) {
    this.holds = new Counter({
      name: 'reservations_total',
      help: 'Hold requests, by outcome.',
      labelNames: ['outcome'],
      registers: [registry],
    });
  }

  /** Counts a hold request under the label `outcome`: `held`, the refusal's code in lower case, or `failed` for any other error. */
  async ofHold(hold: Promise<Reservation>): Promise<Reservation> {
    try {
      const held = await hold;
      this.holds.inc({ outcome: 'held' });
      this.seatCaches.invalidate(held.matchId, held.sectorId);
      return held;
    } catch (error) {
      this.holds.inc({ outcome: error instanceof DomainError ? error.code.toLowerCase() : 'failed' });
      throw error;
    }
  }

  async ofRelease(release: Promise<Reservation>): Promise<void> {
    const { matchId, sectorId } = await release;
    this.seatCaches.invalidate(matchId, sectorId);
  }

  /**
   * After a refund: also broadcasts the freed seats. A sold seat has no expiry, so other processes would not notice that it is
   * free.
   */
  async ofRefund<T extends { readonly reservation: Reservation; readonly ticketIds: readonly string[] }>(
    refund: Promise<T>,
  ): Promise<T> {
    const refunded = await refund;
    const { matchId, sectorId } = refunded.reservation;
    if (refunded.ticketIds.length > 0) {
      this.seatCaches.invalidate(matchId, sectorId);
      this.seatsFreed.tellFreed(sectorId);
    }
    return refunded;
  }
}
