import type { Destination } from '#messaging/outbox/destination';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { Module } from '@nestjs/common';
import type { MonolithConfig } from '../config.ts';
import { FansDestinations, FansModule } from '../fans/fans.module.ts';
import { JobDestinations, JobsModule } from '../jobs/jobs.module.ts';
import { PaymentDestinations, PaymentModule } from '../payment/payment.module.ts';
import { CONFIG, REDIS } from '../tokens.ts';
import { WaitingRoomDestinations, WaitingRoomModule } from '../waiting-room/waiting-room.module.ts';
import { WebhookDestinations, WebhooksModule } from '../webhooks/webhooks.module.ts';
import { OutboxDestinations } from './outbox-destinations.ts';
import { OutboxRelays } from './outbox-relays.ts';
import { RelayApi } from './relay.api.ts';

/** Delivers the messages that the contexts wrote to the outbox. */
@Module({
  imports: [FansModule, JobsModule, PaymentModule, WaitingRoomModule, WebhooksModule],
  providers: [
    {
      provide: OutboxDestinations,
      useFactory: (config: MonolithConfig, redis: RedisConnection, ...contexts: { readonly all: readonly Destination[] }[]) =>
        new OutboxDestinations(
          config.REDIS_URL,
          redis,
          contexts.flatMap(({ all }) => all),
        ),
      inject: [
        CONFIG,
        REDIS,
        PaymentDestinations,
        WaitingRoomDestinations,
        JobDestinations,
        FansDestinations,
        WebhookDestinations,
      ],
    },
    OutboxRelays,
    { provide: RelayApi, useExisting: OutboxRelays },
  ],
  exports: [RelayApi],
})
export class RelayModule {}
