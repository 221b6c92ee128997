import { DueEffects, type RunStatement } from '#event-loader/adapters/due-effects';
import { RedisLocks } from '#event-loader/adapters/redis-locks';
import { RequestRefused } from '#platform/http/request-refused';
import type { Logger } from '#platform/logging/logger';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { LOGGER, REDIS } from '../../../tokens.ts';
import { LoadedPayments } from './loaded-payments.ts';

const CHECK_INTERVAL_MS = 1000;

/**
 * Applies the payment events that the event loader has stored. The loader does not do it itself, because a paid order gets ticket codes:
 * then every loader would need the key that signs tickets.
 */
@Injectable()
export class LoadedPaymentsSchedule {
  private readonly effects: DueEffects;

  constructor(
    payments: LoadedPayments,
    dataSource: DataSource,
    tasks: PeriodicTasks,
    @Inject(REDIS) redis: RedisConnection,
    @Inject(LOGGER) logger: Logger,
  ) {
    const run: RunStatement = <Row>(text: string, values: unknown[]) => dataSource.query<Row[]>(text, values);
    // A malformed event stays malformed, so a retry cannot help.
    const isFinal = (error: unknown): boolean => error instanceof RequestRefused;
    const act = (event: unknown): Promise<undefined> => payments.apply(event).then(() => undefined);
    this.effects = new DueEffects(run, new Map([['payments', { isFinal, act }]]), new RedisLocks(redis), logger);
    tasks.add(
      { name: 'loaded payments', everyMs: CHECK_INTERVAL_MS, does: 'Applies payment events that the event loader has stored.' },
      () => this.applyAll(),
    );
  }

  /** Applies all events that are due. */
  async applyAll(): Promise<void> {
    while ((await this.effects.runOnce()) > 0);
  }
}
