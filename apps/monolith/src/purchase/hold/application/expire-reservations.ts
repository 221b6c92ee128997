import type { ExpiredBatch, Reservations } from './reservation-ports.ts';

/** Maximum of reservations in one batch. The specification of the project fixes it. */
const BATCH_SIZE = 200;

/**
 * Ends expired reservations in the database. No caller depends on it: every reader treats a hold as free from the moment it
 * expires. A run continues until no reservation is due, because one batch in 30 s would need 25 minutes for 10,000 abandoned
 * holds. Each batch begins after the last reservation of the previous one, so a reservation with a locked row is tried once in a
 * run.
 */
export class ExpireReservations {
  constructor(private readonly reservations: Reservations) {}

  /** Returns how many reservations it ended, without those that were paid or released in time. */
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
