import type { RedisConnection } from '#platform/redis/redis-connection';
import { Module } from '@nestjs/common';
import type { MonolithConfig } from '../config.ts';
import { FansDestinations, FansModule } from '../fans/fans.module.ts';
import { JobDestinations, JobsModule } from '../jobs/jobs.module.ts';
import { PaymentDestinations, PaymentModule } from '../payment/payment.module.ts';
import { CONFIG, REDIS } from '../tokens.ts';
import { WaitingRoomDestinations, WaitingRoomModule } from '../waiting-room/waiting-room.module.ts';
import { Housekeeping } from './housekeeping.schedule.ts';
import { OutboxDestinations } from './outbox-destinations.ts';
import { OutboxRelays } from './outbox-relays.ts';
import { RelayApi } from './relay.api.ts';

/** Delivers the messages that the contexts wrote to the outbox. */
@Module({
  imports: [FansModule, JobsModule, PaymentModule, WaitingRoomModule],
  providers: [
    {
      provide: OutboxDestinations,
      useFactory: (
        config: MonolithConfig,
        redis: RedisConnection,
        payments: PaymentDestinations,
        waitingRoom: WaitingRoomDestinations,
        jobs: JobDestinations,
        fans: FansDestinations,
      ) => new OutboxDestinations(config.REDIS_URL, redis, [...waitingRoom.all, ...payments.all, ...jobs.all, ...fans.all]),
      inject: [CONFIG, REDIS, PaymentDestinations, WaitingRoomDestinations, JobDestinations, FansDestinations],
    },
    OutboxRelays,
    { provide: RelayApi, useExisting: OutboxRelays },
    Housekeeping,
  ],
  exports: [RelayApi],
})
export class RelayModule {}
