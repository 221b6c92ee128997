import { Outbox } from '#application/outbox';
import { TransactionManager } from '#application/transaction-manager';
import type { Destination } from '#messaging/outbox/destination';
import { useCase } from '#platform/use-case';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ChangeProfile } from './application/change-profile.ts';
import { ForgetDevice } from './application/forget-device.ts';
import { Devices, Fans } from './application/ports.ts';
import { RegisterDevice } from './application/register-device.ts';
import { FanBroadcasts, FansApi } from './fans.api.ts';
import { MeController } from './inbound/me.controller.ts';
import { DeadTokensDestination } from './outbound/dead-tokens-destination.ts';
import { PostgresFanBroadcasts } from './outbound/postgres-fan-broadcasts.ts';
import { PostgresContacts } from './outbound/postgres-contacts.ts';
import { PostgresDevices } from './outbound/postgres-devices.ts';
import { PostgresFans } from './outbound/postgres-fans.ts';

/** The outbox destinations that the fans context provides to the relay. */
export class FansDestinations {
  constructor(readonly all: readonly Destination[]) {}
}

/** Fans: their profiles, their devices and the broadcasts to them. */
@Module({
  controllers: [MeController],
  providers: [
    { provide: Fans, useFactory: (dataSource: DataSource) => new PostgresFans(dataSource), inject: [DataSource] },
    { provide: Devices, useClass: PostgresDevices },
    useCase(ChangeProfile, TransactionManager, Fans),
    useCase(RegisterDevice, TransactionManager, Devices),
    useCase(ForgetDevice, TransactionManager, Devices),
    { provide: FansApi, useClass: PostgresContacts },
    {
      provide: FanBroadcasts,
      useFactory: (dataSource: DataSource, outbox: Outbox) => new PostgresFanBroadcasts(dataSource, outbox),
      inject: [DataSource, Outbox],
    },
    {
      provide: FansDestinations,
      useFactory: (dataSource: DataSource) => new FansDestinations([new DeadTokensDestination(dataSource)]),
      inject: [DataSource],
    },
  ],
  exports: [FansApi, FanBroadcasts, FansDestinations],
})
export class FansModule {}
