import { Clock } from '#application/clock';
import { Ids } from '#application/ids';
import { Jobs } from '#application/jobs';
import { Outbox } from '#application/outbox';
import { TransactionManager } from '#application/transaction-manager';
import type { JobKind } from '#platform/jobs/job-runner';
import type { Logger } from '#platform/logging/logger';
import { useCase } from '#platform/use-case';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CatalogApi } from '../catalog/catalog.api.ts';
import { CatalogModule } from '../catalog/catalog.module.ts';
import { Announcements, FansApi } from '../fans/fans.api.ts';
import { FansModule } from '../fans/fans.module.ts';
import { PurchaseApi } from '../purchase/purchase.api.ts';
import { PurchaseModule } from '../purchase/purchase.module.ts';
import { TicketingApi } from '../ticketing/ticketing.api.ts';
import { TicketingModule } from '../ticketing/ticketing.module.ts';
import { LOGGER, LOOPS } from '../tokens.ts';
import { PlanReminders } from './application/plan-reminders.ts';
import { Holders, MatchMails, MatchPushes, NewsMatches, Reminders } from './application/ports.ts';
import { RemindHolders } from './application/remind-holders.ts';
import { TellCancellation } from './application/tell-cancellation.ts';
import { TellMatchChange } from './application/tell-match-change.ts';
import { NewsJobs } from './inbound/news-jobs.ts';
import { ReminderSchedule } from './inbound/reminders.schedule.ts';
import { CatalogNewsMatches, TicketHolders } from './outbound/neighbours.ts';
import { BroadcastMatchPushes } from './outbound/broadcast-match-pushes.ts';
import { OutboxMatchMails } from './outbound/outbox-match-mails.ts';
import { PostgresReminders } from './outbound/postgres-reminders.ts';

/** What this context does in the background. */
export abstract class NewsJobKinds {
  abstract readonly kinds: readonly JobKind[];
}

/** What ticket holders hear about their match after the purchase. */
@Module({
  imports: [CatalogModule, FansModule, PurchaseModule, TicketingModule],
  providers: [
    { provide: NewsMatches, useFactory: (catalog: CatalogApi) => new CatalogNewsMatches(catalog), inject: [CatalogApi] },
    {
      provide: Holders,
      useFactory: (ticketing: TicketingApi, purchase: PurchaseApi) => new TicketHolders(ticketing, purchase),
      inject: [TicketingApi, PurchaseApi],
    },
    {
      provide: MatchMails,
      useFactory: (fans: FansApi, outbox: Outbox, ids: Ids, clock: Clock) => new OutboxMatchMails(fans, outbox, ids, clock),
      inject: [FansApi, Outbox, Ids, Clock],
    },
    {
      provide: MatchPushes,
      useFactory: (announcements: Announcements) => new BroadcastMatchPushes(announcements),
      inject: [Announcements],
    },
    { provide: Reminders, useFactory: (dataSource: DataSource) => new PostgresReminders(dataSource), inject: [DataSource] },
    useCase(TellMatchChange, NewsMatches, Holders, MatchMails, MatchPushes, Jobs),
    useCase(TellCancellation, NewsMatches, Holders, MatchMails, MatchPushes, Jobs),
    useCase(RemindHolders, NewsMatches, Holders, MatchMails, MatchPushes, Jobs, Clock),
    useCase(PlanReminders, TransactionManager, NewsMatches, Reminders, Jobs, Clock),
    useCase(NewsJobs, TellMatchChange, TellCancellation, RemindHolders),
    {
      provide: ReminderSchedule,
      useFactory: (planReminders: PlanReminders, logger: Logger, isLooping: boolean) =>
        new ReminderSchedule(planReminders, logger, isLooping),
      inject: [PlanReminders, LOGGER, LOOPS],
    },
    { provide: NewsJobKinds, useFactory: ({ kinds }: NewsJobs) => ({ kinds }), inject: [NewsJobs] },
  ],
  exports: [NewsJobKinds],
})
export class NewsModule {}
