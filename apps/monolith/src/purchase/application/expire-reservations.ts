import type { Reservations } from './ports.ts';

/** The seed's batch. */
const BATCH = 200;

/**
 * Tidies up after holds whose time has come. Nobody waits for it: an expired hold is free the moment it expires, whoever
 * looks. Batches until none is left, since a single one would return 10,000 abandoned holds in 25 minutes.
 */
export class ExpireReservations {
  constructor(private readonly reservations: Reservations) {}

  /** Returns how many it ended; others were paid or given back in time and only had to be looked at. */
  async execute(): Promise<number> {
    let total = 0;
    for (;;) {
      const { looked, ended } = await this.reservations.expireDue(BATCH);
      total += ended;
      if (looked < BATCH) return total;
    }
  }
}
