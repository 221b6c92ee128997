import { HealthModule } from '#platform/health/health.module';
import { pingDatabase } from '#platform/postgres/database';
import { SchedulingModule } from '#platform/schedule/scheduling.module';
import { Module, type DynamicModule } from '@nestjs/common';
import { AuditModule } from './audit/audit.module.ts';
import { BlacklistModule } from './blacklist/blacklist.module.ts';
import { CatalogModule } from './catalog/catalog.module.ts';
import { FansModule } from './fans/fans.module.ts';
import { JobsModule } from './jobs/jobs.module.ts';
import { OperationsModule } from './operations/operations.module.ts';
import { PaymentModule } from './payment/payment.module.ts';
import { PlatformModule } from './platform.module.ts';
import { PurchaseModule } from './purchase/purchase.module.ts';
import { QuotaModule } from './quota/quota.module.ts';
import { RelayModule } from './relay/relay.module.ts';
import type { Resources } from './resources.ts';
import { TicketingModule } from './ticketing/ticketing.module.ts';
import { TransferModule } from './transfer/transfer.module.ts';
import { WaitingRoomModule } from './waiting-room/waiting-room.module.ts';
import { WebhooksModule } from './webhooks/webhooks.module.ts';

/** The modular monolith: all contexts, and the relay that delivers their outbox messages. */
@Module({})
export class AppModule {
  /** Without background work no periodic task and no listener starts: the CLI only calls use cases. */
  static register(resources: Resources, { backgroundWork } = { backgroundWork: true }): DynamicModule {
    const { logger, metrics, dataSource, redis } = resources;
    return {
      module: AppModule,
      imports: [
        PlatformModule.register(resources),
        SchedulingModule.register(logger, { isEnabled: backgroundWork }),
        HealthModule.register({
          metrics,
          ready: [
            { name: 'postgresql', vital: true, probe: () => pingDatabase(dataSource) },
            { name: 'redis', vital: false, probe: () => redis.ping() },
          ],
        }),
        CatalogModule,
        FansModule,
        BlacklistModule,
        PaymentModule,
        TicketingModule,
        WaitingRoomModule,
        WebhooksModule,
        PurchaseModule,
        OperationsModule,
        QuotaModule,
        JobsModule,
        TransferModule,
        AuditModule,
        RelayModule,
      ],
    };
  }
}
