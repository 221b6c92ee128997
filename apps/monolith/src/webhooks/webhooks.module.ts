import { Clock } from '#application/clock';
import { Ids } from '#application/ids';
import { Outbox } from '#application/outbox';
import { TransactionManager } from '#application/transaction-manager';
import type { Destination } from '#messaging/outbox/destination';
import type { Logger } from '#platform/logging/logger';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { useCase } from '#platform/use-case';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { MonolithConfig } from '../config.ts';
import { CONFIG, LOGGER } from '../tokens.ts';
import { ChangeWebhooks } from './change-webhooks.ts';
import { PostgresWebhooks } from './postgres-webhooks.ts';
import { WantedEvents } from './wanted-events.ts';
import { WebhookEvents } from './webhook-events.api.ts';
import { WebhookSender } from './webhook-sender.ts';
import { WebhookSending } from './webhook-sending.schedule.ts';
import { WebhooksController } from './webhooks.controller.ts';
import { WebhooksDestination } from './webhooks-destination.ts';

/** The outbox destinations that the webhooks context provides to the relay. */
export class WebhookDestinations {
  constructor(readonly all: readonly Destination[]) {}
}

const publicOnly = (config: MonolithConfig) => ({ publicOnly: !config.WEBHOOK_ALLOW_PRIVATE });

/** Tells partners by webhook what has happened. */
@Module({
  controllers: [WebhooksController],
  providers: [
    useCase(PostgresWebhooks, DataSource, Ids),
    useCase(WantedEvents, PostgresWebhooks, Outbox, Ids, Clock, PeriodicTasks),
    { provide: WebhookEvents, useExisting: WantedEvents },
    {
      provide: WebhookSender,
      useFactory: (webhooks: PostgresWebhooks, clock: Clock, logger: Logger, config: MonolithConfig) =>
        new WebhookSender(webhooks, clock, logger, publicOnly(config)),
      inject: [PostgresWebhooks, Clock, LOGGER, CONFIG],
    },
    WebhookSending,
    {
      provide: ChangeWebhooks,
      useFactory: (transactions: TransactionManager, webhooks: PostgresWebhooks, wanted: WantedEvents, config: MonolithConfig) =>
        new ChangeWebhooks(transactions, webhooks, wanted, publicOnly(config)),
      inject: [TransactionManager, PostgresWebhooks, WantedEvents, CONFIG],
    },
    {
      provide: WebhookDestinations,
      useFactory: (webhooks: PostgresWebhooks, sending: WebhookSending) =>
        new WebhookDestinations([new WebhooksDestination(webhooks, () => sending.runSoon())]),
      inject: [PostgresWebhooks, WebhookSending],
    },
  ],
  exports: [WebhookEvents, WebhookDestinations],
})
export class WebhooksModule {}
