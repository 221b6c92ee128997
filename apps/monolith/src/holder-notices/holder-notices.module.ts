import { Clock } from '#application/clock';
import { Ids } from '#application/ids';
import { Jobs } from '#application/jobs';
import { Outbox } from '#application/outbox';
import type { JobKind } from '#messaging/jobs/job-runner';
import { useCase } from '#platform/use-case';
import { Module } from '@nestjs/common';
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
import { noticeJobs } from './notice-jobs.ts';
import { Reminders } from './reminders.schedule.ts';

/** The kinds of background jobs that the holder-notices context provides to the job consumer. */
export class NoticeJobKinds {
  constructor(readonly kinds: readonly JobKind[]) {}
}

/** Tells ticket holders that their match was moved, was cancelled or is coming up. */
@Module({
  imports: [CatalogModule, FansModule, PurchaseModule, TicketingModule],
  providers: [
    useCase(MatchMails, FansApi, Outbox, Ids, Clock),
    useCase(HolderPages, TicketingApi, PurchaseApi, MatchMails, FanBroadcasts),
    Reminders,
    {
      provide: NoticeJobKinds,
      useFactory: (...parts: Parameters<typeof noticeJobs>) => new NoticeJobKinds(noticeJobs(...parts)),
      inject: [CatalogApi, HolderPages, Jobs, Clock],
    },
  ],
  exports: [NoticeJobKinds],
})
export class HolderNoticesModule {}
