import { Clock } from '#application/clock';
import { Ids } from '#application/ids';
import { Outbox } from '#application/outbox';
import { TransactionManager } from '#application/transaction-manager';
import { PostgresJobs } from '#messaging/jobs/job-ledger';
import { AlertNotes } from '#messaging/sending/alert-notes';
import { AlertUpkeep } from '#messaging/sending/alert-upkeep';
import { Alerts } from '#messaging/sending/alerts';
import { ProviderCalls } from '#messaging/sending/provider-calls';
import { SharedProviderLimiter } from '#messaging/sending/provider-limiter';
import { UnreportedFailures } from '#messaging/sending/unreported-failures';
import { alertChannels } from '#platform/config/settings';
import type { Logger } from '#platform/logging/logger';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { useCase } from '#platform/use-case';
import type { Provider } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { MonolithConfig } from '../config.ts';
import { CONFIG, LOGGER, REDIS } from '../tokens.ts';
import { OperatorsMails } from './operators-mails.ts';
import { OperatorsWebhook } from './operators-webhook.ts';
import { TellOperators } from './tell-operators.ts';

/** Slack accepts one message a second; other chat services have similar limits. */
const ALERTS_PER_SECOND = 1;
/** The longest time an alert job waits for the rate limiter. After that the job goes back to its queue without a failed attempt. */
const MAX_LIMITER_WAIT_MS = 1500;

function webhookCalls(redis: RedisConnection, alerts: Alerts): ProviderCalls {
  const onBreaker = (provider: string, state: string): void =>
    alerts.raise({
      about: `breaker ${provider} ${state}`,
      text: `the breaker of ${provider} has ${state}`,
      excludedChannel: 'webhook',
    });
  const options = { provider: 'alert-webhook', callsPerSecond: ALERTS_PER_SECOND, maxWaitMs: MAX_LIMITER_WAIT_MS, onBreaker };
  return new ProviderCalls(new SharedProviderLimiter(redis, options));
}

/** Finds failures that operators must learn of, and alerts them by webhook and mail. */
export const alertProviders: Provider[] = [
  {
    provide: OperatorsWebhook,
    useFactory: ({ ALERT_WEBHOOK_URL }: MonolithConfig, redis: RedisConnection, alerts: Alerts, logger: Logger) =>
      new OperatorsWebhook(ALERT_WEBHOOK_URL, webhookCalls(redis, alerts), logger),
    inject: [CONFIG, REDIS, Alerts, LOGGER],
  },
  {
    provide: OperatorsMails,
    useFactory: ({ ALERT_EMAIL }: MonolithConfig, outbox: Outbox, ids: Ids, clock: Clock) =>
      new OperatorsMails(ALERT_EMAIL, outbox, ids, clock),
    inject: [CONFIG, Outbox, Ids, Clock],
  },
  useCase(TellOperators, OperatorsWebhook, OperatorsMails),
  {
    provide: AlertNotes,
    useFactory: (dataSource: DataSource, transactions: TransactionManager, outbox: Outbox, ids: Ids) =>
      new AlertNotes(dataSource, transactions, new PostgresJobs(outbox, ids)),
    inject: [DataSource, TransactionManager, Outbox, Ids],
  },
  {
    provide: Alerts,
    useFactory: (config: MonolithConfig, logger: Logger, notes: AlertNotes) =>
      new Alerts(logger, { ways: alertChannels(config), notes, webhookUrl: config.ALERT_WEBHOOK_URL }),
    inject: [CONFIG, LOGGER, AlertNotes],
  },
  {
    provide: AlertUpkeep,
    useFactory: (config: MonolithConfig, notes: AlertNotes, dataSource: DataSource) => {
      const failures = new UnreportedFailures(dataSource);
      const finders = [() => failures.failedJobs(), () => failures.parkedMessages(), () => failures.parkedEvents()];
      return new AlertUpkeep(notes, alertChannels(config), finders);
    },
    inject: [CONFIG, AlertNotes, DataSource],
  },
];
