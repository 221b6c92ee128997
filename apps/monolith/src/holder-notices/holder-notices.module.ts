import { Clock } from '#application/clock';
import { Ids } from '#application/ids';
import { Jobs } from '#application/jobs';
import { Outbox } from '#application/outbox';
import { TransactionManager } from '#application/transaction-manager';
import type { JobKind } from '#messaging/jobs/job-runner';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { useCase } from '#platform/use-case';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CatalogApi } from '../catalog/catalog.api.ts';
import { CatalogModule } from '../catalog/catalog.module.ts';
import { FanBroadcasts, FansApi } from '../fans/fans.api.ts';
import { FansModule } from '../fans/fans.module.ts';
import { PurchaseApi } from '../purchase/purchase.api.ts';
import { PurchaseModule } from '../purchase/purchase.module.ts';
import { TicketingApi } from '../ticketing/ticketing.api.ts';
import { TicketingModule } from '../ticketing/ticketing.module.ts';
import { PlanReminders } from './application/plan-reminders.ts';
import { Holders, MatchMails, MatchPushes, NoticeMatches, Reminders } from './application/ports.ts';
import { RemindHolders } from './application/remind-holders.ts';
import { TellCancellation } from './application/tell-cancellation.ts';
import { TellMatchChange } from './application/tell-match-change.ts';
import { NoticeJobs } from './inbound/notice-jobs.ts';
import { ReminderSchedule } from './inbound/reminders.schedule.ts';
import { CatalogNoticeMatches, TicketHolders } from './outbound/other-contexts.ts';
import { BroadcastMatchPushes } from './outbound/broadcast-match-pushes.ts';
import { OutboxMatchMails } from './outbound/outbox-match-mails.ts';
import { PostgresReminders } from './outbound/postgres-reminders.ts';

/** The kinds of background jobs that the holder-notices context provides to the job consumer. */
export abstract class NoticeJobKinds {
  abstract readonly kinds: readonly JobKind[];
}

/** Tells ticket holders that their match was moved, was cancelled or is coming up. */
@Module({
  imports: [CatalogModule, FansModule, PurchaseModule, TicketingModule],
  providers: [
    { provide: NoticeMatches, useFactory: (catalog: CatalogApi) => new CatalogNoticeMatches(catalog), inject: [CatalogApi] },
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
      useFactory: (broadcasts: FanBroadcasts) => new BroadcastMatchPushes(broadcasts),
      inject: [FanBroadcasts],
    },
    { provide: Reminders, useFactory: (dataSource: DataSource) => new PostgresReminders(dataSource), inject: [DataSource] },
    useCase(TellMatchChange, NoticeMatches, Holders, MatchMails, MatchPushes, Jobs),
    useCase(TellCancellation, NoticeMatches, Holders, MatchMails, MatchPushes, Jobs),
    useCase(RemindHolders, NoticeMatches, Holders, MatchMails, MatchPushes, Jobs, Clock),
    useCase(PlanReminders, TransactionManager, NoticeMatches, Reminders, Jobs, Clock),
    useCase(NoticeJobs, TellMatchChange, TellCancellation, RemindHolders),
    {
      provide: ReminderSchedule,
      useFactory: (planReminders: PlanReminders, tasks: PeriodicTasks) => new ReminderSchedule(planReminders, tasks),
      inject: [PlanReminders, PeriodicTasks],
    },
    { provide: NoticeJobKinds, useFactory: ({ kinds }: NoticeJobs) => ({ kinds }), inject: [NoticeJobs] },
  ],
  exports: [NoticeJobKinds],
})
export class HolderNoticesModule {}
