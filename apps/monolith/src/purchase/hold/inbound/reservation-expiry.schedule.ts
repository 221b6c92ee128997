import type { Logger } from '#platform/logging/logger';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import type { MonolithConfig } from '../../../config.ts';
import { CONFIG, LOGGER, LOOPS } from '../../../tokens.ts';
import { ExpireReservations } from '../application/expire-reservations.ts';

/**
 * Starts the expiry sweeper, which ends expired reservations, every `RESERVATION_EXPIRY_SECONDS` on every replica. SKIP LOCKED lets
 * the replicas share the work.
 */
@Injectable()
export class ReservationExpirySchedule implements OnApplicationBootstrap, OnApplicationShutdown {
  private running: Promise<void> | undefined;

  constructor(
    private readonly expireReservations: ExpireReservations,
    private readonly scheduler: SchedulerRegistry,
    @Inject(CONFIG) private readonly config: MonolithConfig,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(LOOPS) private readonly loops: boolean,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.loops) return;
    const interval = setInterval(() => this.run(), this.config.RESERVATION_EXPIRY_SECONDS * 1000);
    this.scheduler.addInterval('reservation-expiry', interval);
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.scheduler.doesExist('interval', 'reservation-expiry')) this.scheduler.deleteInterval('reservation-expiry');
    await this.running;
  }

  private run(): void {
    // One run at a time, also when a run takes longer than the interval.
    this.running ??= this.expireReservations
      .execute()
      .then((ended) => {
        if (ended > 0) this.logger.info({ ended }, 'expired reservations were ended');
      })
      .catch((error: unknown) => this.logger.warn({ err: error }, 'expiry will be tried again'))
      .finally(() => (this.running = undefined));
  }
}
