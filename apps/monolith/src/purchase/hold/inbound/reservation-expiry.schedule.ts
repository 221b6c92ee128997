import type { Logger } from '#platform/logging/logger';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { Inject, Injectable } from '@nestjs/common';
import type { MonolithConfig } from '../../../config.ts';
import { CONFIG, LOGGER } from '../../../tokens.ts';
import { ExpireReservations } from '../application/expire-reservations.ts';

/** Runs the expiry sweeper on every replica. SKIP LOCKED lets the replicas share the work. */
@Injectable()
export class ReservationExpirySchedule {
  constructor(
    expireReservations: ExpireReservations,
    tasks: PeriodicTasks,
    @Inject(CONFIG) { RESERVATION_EXPIRY_SECONDS }: MonolithConfig,
    @Inject(LOGGER) logger: Logger,
  ) {
    const definition = {
      name: 'reservation-expiry',
      everyMs: RESERVATION_EXPIRY_SECONDS * 1000,
      setting: '`RESERVATION_EXPIRY_SECONDS`',
      does: 'The expiry sweeper: ends expired reservations.',
    };
    tasks.add(definition, async () => {
      const ended = await expireReservations.execute();
      if (ended > 0) logger.info({ ended }, 'expired reservations were ended');
    });
  }
}
