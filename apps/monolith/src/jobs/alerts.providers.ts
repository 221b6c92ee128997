import { Jobs } from '#application/jobs';
import { TransactionManager } from '#application/transaction-manager';
import type { PostgresJobs } from '#messaging/jobs/job-ledger';
import { AlertNotes } from '#messaging/sending/alert-notes';
import { AlertUpkeep } from '#messaging/sending/alert-upkeep';
import { Alerts } from '#messaging/sending/alerts';
import { ProviderCalls } from '#messaging/sending/provider-calls';
import { SharedProviderLimiter } from '#messaging/sending/provider-limiter';
import { UnreportedFailures } from '#messaging/sending/unreported-failures';
import { alertChannels } from '#platform/config/alert-channels';
import type { Logger } from '#platform/logging/logger';
import type { RedisConnection } from '#platform/redis/redis-connection';
import type { Provider } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { MonolithConfig } from '../config.ts';
import { LateErasures } from '../fans/fans.api.ts';
import { CONFIG, LOGGER, REDIS } from '../tokens.ts';
import { TellOperators } from './tell-operators.ts';

/** Slack accepts one message a second; other chat services have similar limits. */
const ALERTS_PER_SECOND = 1;
/** The longest time an alert job waits for the rate limiter. After that the job goes back to its queue without a failed attempt. */
const MAX_LIMITER_WAIT_MS = 1500;

/** Finds failures that operators must learn of, and alerts them by webhook and mail. */
export const alertProviders: Provider[] = [
  {
    provide: ProviderCalls,
    useFactory: (redis: RedisConnection, alerts: Alerts) => {
      const onBreaker = (provider: string, state: string): void => {
        const [about, text] = [`breaker ${provider} ${state}`, `the breaker of ${provider} has ${state}`];
        alerts.raise({ about, text, excludedChannel: 'webhook' });
      };
      const limits = { callsPerSecond: ALERTS_PER_SECOND, maxWaitMs: MAX_LIMITER_WAIT_MS };
      return new ProviderCalls(new SharedProviderLimiter(redis, { provider: 'alert-webhook', ...limits, onBreaker }));
    },
    inject: [REDIS, Alerts],
  },
  TellOperators,
  {
    provide: AlertNotes,
    useFactory: (dataSource: DataSource, transactions: TransactionManager, jobs: PostgresJobs) =>
      new AlertNotes(dataSource, transactions, jobs),
    inject: [DataSource, TransactionManager, Jobs],
  },
  {
    provide: Alerts,
    useFactory: (config: MonolithConfig, logger: Logger, notes: AlertNotes) =>
      new Alerts(logger, { ways: alertChannels(config), notes, webhookUrl: config.ALERT_WEBHOOK_URL }),
    inject: [CONFIG, LOGGER, AlertNotes],
  },
  {
    provide: AlertUpkeep,
    useFactory: (config: MonolithConfig, notes: AlertNotes, dataSource: DataSource, lateErasures: LateErasures) => {
      const failures = new UnreportedFailures(dataSource);
      const finders = [
        () => failures.failedJobs(),
        () => failures.parkedMessages(),
        () => failures.parkedEvents(),
        () => lateErasures.find(),
      ];
      return new AlertUpkeep(notes, alertChannels(config), finders);
    },
    inject: [CONFIG, AlertNotes, DataSource, LateErasures],
  },
];
