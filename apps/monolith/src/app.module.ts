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
import type { WarmUp } from './tokens.ts';
import { WebhooksModule } from './webhooks/webhooks.module.ts';

/** What a process does besides answering calls. */
export interface AppParts {
  /** Without background work no periodic task and no listener starts: the CLI only calls use cases. */
  readonly backgroundWork: boolean;
  /** Rehearse purchases at the start, and take traffic only then. Off in tests, which start many processes. */
  readonly warmUp?: boolean;
}

/** A process that cannot warm up, for example because a table is locked, takes traffic after this time all the same. */
const MAX_WARM_UP_MS = 20_000;

/** The modular monolith: all contexts, and the relay that delivers their outbox messages. */
@Module({})
export class AppModule {
  static register(
    resources: Resources,
    { backgroundWork, warmUp: isEnabled = false }: AppParts = { backgroundWork: true },
  ): DynamicModule {
    const { logger, metrics, dataSource, redis } = resources;
    const warmUp: WarmUp = { isEnabled, isDone: false };
    const takesTrafficAt = performance.now() + (isEnabled ? MAX_WARM_UP_MS : 0);
    return {
      module: AppModule,
      imports: [
        PlatformModule.register(resources, warmUp),
        SchedulingModule.register(logger, { isEnabled: backgroundWork }),
        HealthModule.register({
          metrics,
          ready: [
            { name: 'postgresql', vital: true, probe: () => pingDatabase(dataSource) },
            { name: 'redis', vital: false, probe: () => redis.ping() },
            { name: 'warm-up', vital: true, probe: () => isWarm(warmUp, takesTrafficAt) },
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

function isWarm({ isDone }: WarmUp, takesTrafficAt: number): Promise<void> {
  return isDone || performance.now() >= takesTrafficAt ? Promise.resolve() : Promise.reject(new Error('not warmed up yet'));
}
