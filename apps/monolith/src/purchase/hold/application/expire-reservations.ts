import type { ExpiredBatch, Reservations } from './reservation-ports.ts';

/** The seed's batch. */
const BATCH = 200;

/**
 * Tidies up after holds whose time has come. Nobody waits for it: an expired hold is free the moment it expires, whoever
 * looks. Batches until none is left, since a single one would return 10,000 abandoned holds in 25 minutes. Each batch starts
 * after the one before: a hold that had to be left alone, because a row of it is locked, is looked at once a run.
 */
export class ExpireReservations {
  constructor(private readonly reservations: Reservations) {}

  /** Returns how many it ended; others were paid or given back in time and only had to be looked at. */
  async execute(): Promise<number> {
    let total = 0;
    let after: ExpiredBatch['next'];
    do {
      const { ended, next } = await this.reservations.expireDue(BATCH, after);
      total += ended;
      after = next;
    } while (after);
    return total;
  }
}
