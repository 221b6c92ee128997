import { IdempotencyRows } from '#platform/idempotency/idempotency-rows';
import type { Logger } from '#platform/logging/logger';
import { RelayLoop } from '#messaging/outbox/relay-loop';
import { purgeInboxOnce, purgeNotificationsOnce } from '#messaging/inbox/inbox-purge';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { LOGGER, LOOPS } from '../tokens.ts';

const PURGE_INTERVAL_MS = 3_600_000;

/**
 * Deletes rows whose retention has ended, once an hour and in batches: idempotency keys, inbox rows, and rows about notifications
 * (pushes, broadcasts, copies of queued jobs, alert notes).
 */
@Injectable()
export class Housekeeping implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly purges: readonly RelayLoop[];

  constructor(
    rows: IdempotencyRows,
    dataSource: DataSource,
    @Inject(LOGGER) logger: Logger,
    @Inject(LOOPS) private readonly isLooping: boolean,
  ) {
    this.purges = [
      new RelayLoop('old idempotency keys', () => rows.purgeOnce(), logger, PURGE_INTERVAL_MS),
      new RelayLoop('old inbox rows', () => purgeInboxOnce(dataSource), logger, PURGE_INTERVAL_MS),
      new RelayLoop('old notifications', () => purgeNotificationsOnce(dataSource), logger, PURGE_INTERVAL_MS),
    ];
  }

  onApplicationBootstrap(): void {
    if (this.isLooping) for (const purge of this.purges) purge.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.purges.map((purge) => purge.stop()));
  }
}
