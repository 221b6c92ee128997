import { TransactionManager } from '#application/transaction-manager';
import { useCase } from '#platform/use-case';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ChangeProfile } from './application/change-profile.ts';
import { ForgetDevice } from './application/forget-device.ts';
import { Devices, Fans } from './application/ports.ts';
import { RegisterDevice } from './application/register-device.ts';
import { FansApi } from './fans.api.ts';
import { MeController } from './inbound/me.controller.ts';
import { PostgresContacts } from './outbound/postgres-contacts.ts';
import { PostgresDevices } from './outbound/postgres-devices.ts';
import { PostgresFans } from './outbound/postgres-fans.ts';

/** Fans: who they say they are and how to reach them. */
@Module({
  controllers: [MeController],
  providers: [
    { provide: Fans, useFactory: (dataSource: DataSource) => new PostgresFans(dataSource), inject: [DataSource] },
    { provide: Devices, useClass: PostgresDevices },
    useCase(ChangeProfile, TransactionManager, Fans),
    useCase(RegisterDevice, TransactionManager, Devices),
    useCase(ForgetDevice, TransactionManager, Devices),
    { provide: FansApi, useClass: PostgresContacts },
  ],
  exports: [FansApi],
})
export class FansModule {}
