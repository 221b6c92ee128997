import { TransactionManager } from '#application/transaction-manager';
import type { Destination } from '#messaging/outbox/destination';
import { useCase } from '#platform/use-case';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DeadTokensDestination } from './dead-tokens-destination.ts';
import { Devices } from './devices.ts';
import { EraseFan } from './erase-fan.ts';
import { ExportFan } from './export-fan.ts';
import { FanBroadcasts, FansApi, LateErasures } from './fans.api.ts';
import { ErasableWithFans, KeptAboutFans } from './kept-about-fans.api.ts';
import { MeController } from './me.controller.ts';
import { PostgresFanBroadcasts } from './postgres-fan-broadcasts.ts';
import { PostgresLateErasures } from './postgres-late-erasures.ts';
import { Profiles } from './profiles.ts';

/** The outbox destinations that the fans context provides to the relay. */
export class FansDestinations {
  constructor(readonly all: readonly Destination[]) {}
}

/** Fans: their profiles, their devices, the broadcasts to them, the export and the erasing of what is kept about them. */
@Module({
  controllers: [MeController],
  providers: [
    Profiles,
    { provide: FansApi, useExisting: Profiles },
    useCase(Devices, TransactionManager),
    KeptAboutFans,
    ExportFan,
    ErasableWithFans,
    EraseFan,
    { provide: LateErasures, useClass: PostgresLateErasures },
    { provide: FanBroadcasts, useClass: PostgresFanBroadcasts },
    {
      provide: FansDestinations,
      useFactory: (dataSource: DataSource) => new FansDestinations([new DeadTokensDestination(dataSource)]),
      inject: [DataSource],
    },
  ],
  exports: [FansApi, FanBroadcasts, KeptAboutFans, ErasableWithFans, LateErasures, FansDestinations],
})
export class FansModule {}
