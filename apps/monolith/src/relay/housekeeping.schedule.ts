import { IdempotencyRows } from '#platform/idempotency/idempotency-rows';
import type { Logger } from '#platform/logging/logger';
import { RelayLoop } from '#platform/outbox/relay-loop';
import { purgeInboxOnce, purgeNotificationsOnce } from '#platform/postgres/inbox-purge';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { LOGGER, LOOPS } from '../tokens.ts';

const EVERY_MS = 3_600_000;

/** Once an hour, batch by batch until nothing is left: rows that are older than any promise they keep. */
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
      new RelayLoop('old idempotency keys', () => rows.purgeOnce(), logger, EVERY_MS),
      new RelayLoop('old inbox rows', () => purgeInboxOnce(dataSource), logger, EVERY_MS),
      new RelayLoop('old notifications', () => purgeNotificationsOnce(dataSource), logger, EVERY_MS),
    ];
  }

  onApplicationBootstrap(): void {
    if (this.isLooping) for (const purge of this.purges) purge.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.purges.map((purge) => purge.stop()));
  }
}
