import type { ExpiredBatch, Reservations } from './reservation-ports.ts';

/** Maximum number of reservations in one batch. The specification of the project fixes this number. */
const BATCH_SIZE = 200;

/**
 * The expiry sweeper: ends expired reservations in the database. Nobody has to wait for it, because every reader treats the seats
 * of a hold as free from its expiry on. A run continues until all expired reservations are examined: one batch in 30 s would need
 * 25 minutes for 10,000 abandoned holds. Each batch begins after the last reservation of the previous batch, so a reservation
 * with a locked row is tried once in a run.
 */
export class ExpireReservations {
  constructor(private readonly reservations: Reservations) {}

  /** Runs once. Returns how many reservations it ended; reservations that were paid or released in time do not count. */
  async execute(): Promise<number> {
    let total = 0;
    let after: ExpiredBatch['next'];
    do {
      const { ended, next } = await this.reservations.expireDueReservations(BATCH_SIZE, after);
      total += ended;
      after = next;
    } while (after);
    return total;
  }
}
