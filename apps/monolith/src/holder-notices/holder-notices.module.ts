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
import { HolderPages } from './holder-pages.ts';
import { MatchMails } from './match-mails.ts';
import { MatchPushes } from './match-pushes.ts';
import { noticeJobs } from './notice-jobs.ts';
import { NoticeMatches } from './notice-matches.ts';
import { PlanReminders } from './plan-reminders.ts';
import { RemindHolders } from './remind-holders.ts';
import { ReminderSchedule } from './reminders.schedule.ts';
import { TellCancellation } from './tell-cancellation.ts';
import { TellMatchChange } from './tell-match-change.ts';
import { TicketHolders } from './ticket-holders.ts';

/** The kinds of background jobs that the holder-notices context provides to the job consumer. */
export class NoticeJobKinds {
  constructor(readonly kinds: readonly JobKind[]) {}
}

/** Tells ticket holders that their match was moved, was cancelled or is coming up. */
@Module({
  imports: [CatalogModule, FansModule, PurchaseModule, TicketingModule],
  providers: [
    useCase(NoticeMatches, CatalogApi),
    useCase(TicketHolders, TicketingApi, PurchaseApi),
    useCase(MatchMails, FansApi, Outbox, Ids, Clock),
    useCase(MatchPushes, FanBroadcasts),
    useCase(HolderPages, TicketHolders, MatchMails, MatchPushes),
    useCase(TellMatchChange, NoticeMatches, HolderPages, Jobs),
    useCase(TellCancellation, NoticeMatches, HolderPages, Jobs),
    useCase(RemindHolders, NoticeMatches, HolderPages, Jobs, Clock),
    useCase(PlanReminders, DataSource, TransactionManager, NoticeMatches, Jobs, Clock),
    {
      provide: ReminderSchedule,
      useFactory: (planReminders: PlanReminders, tasks: PeriodicTasks) => new ReminderSchedule(planReminders, tasks),
      inject: [PlanReminders, PeriodicTasks],
    },
    {
      provide: NoticeJobKinds,
      useFactory: (...handlers: Parameters<typeof noticeJobs>) => new NoticeJobKinds(noticeJobs(...handlers)),
      inject: [TellMatchChange, TellCancellation, RemindHolders],
    },
  ],
  exports: [NoticeJobKinds],
})
export class HolderNoticesModule {}
