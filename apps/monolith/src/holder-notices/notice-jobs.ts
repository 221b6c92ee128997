import type { Clock } from '#application/clock';
import type { BackgroundJob, JobHandler, Jobs } from '#application/jobs';
import {
  isReminderDue,
  type AnnounceCancellation,
  type AnnounceMatchChange,
  type RemindFans,
} from '#domain/notification/holder-notice';
import type { RefundMatch } from '#domain/purchase/refund';
import type { JobKind } from '#messaging/jobs/job-runner';
import { z } from 'zod';
import type { CatalogApi, CatalogMatch } from '../catalog/catalog.api.ts';
import type { HolderNotice, HolderPage, HolderPages } from './holder-pages.ts';

type NoticeJob = AnnounceMatchChange | AnnounceCancellation | RemindFans;

/** One class of notice jobs. */
interface NoticeKind<Job extends NoticeJob> {
  readonly schema: z.ZodType<Job>;
  /** False if the match has changed since the job was written, so that its ticket holders must not get this notice. */
  readonly isDue: (match: CatalogMatch) => boolean;
  readonly noticeOf: (match: CatalogMatch, job: Job) => HolderNotice;
  /** The job to add after the last page. */
  readonly followedBy?: (job: Job) => BackgroundJob;
}

const page = { matchId: z.guid(), afterUserId: z.guid().nullable() };

const moved: NoticeKind<AnnounceMatchChange> = {
  schema: z.object({
    ...page,
    class: z.literal('announce_match_change'),
    previousKickoffAt: z.iso.datetime(),
    previousVenue: z.string(),
  }),
  isDue: ({ cancelledAt }) => cancelledAt === null,
  noticeOf: (match, { previousKickoffAt, previousVenue }) => ({ kind: 'moved', match, previousKickoffAt, previousVenue }),
};

/** The refunds start only after the last page: a refunded fan has no ticket any more and would not get the notice. */
const cancelled: NoticeKind<AnnounceCancellation> = {
  schema: z.object({ ...page, class: z.literal('announce_cancellation') }),
  isDue: () => true,
  noticeOf: (match) => ({ kind: 'cancelled', match }),
  followedBy: ({ matchId }): RefundMatch => ({ class: 'refund_match', matchId, afterOrderId: null, round: 0 }),
};

const comingUp = (clock: Clock): NoticeKind<RemindFans> => ({
  schema: z.object({ ...page, class: z.literal('remind_fans') }),
  isDue: ({ cancelledAt, kickoffAt }) => cancelledAt === null && isReminderDue(kickoffAt, clock.now()),
  noticeOf: (match) => ({ kind: 'coming up', match }),
});

/**
 * The three kinds of jobs that send notices to ticket holders: about a match that was moved, was cancelled or comes up. Each job
 * notifies one page of ticket holders and adds the job for the next page.
 */
export function noticeJobs(catalog: CatalogApi, pages: HolderPages, jobs: Jobs, clock: Clock): readonly JobKind[] {
  const jobKind = <Job extends NoticeJob>(name: Job['class'], kind: NoticeKind<Job>): JobKind => {
    const handler: JobHandler<Job, HolderPage | undefined> = {
      class: name,
      async prepare({ matchId, afterUserId }) {
        const match = await catalog.match(matchId);
        return match && kind.isDue(match) ? pages.read(match, afterUserId) : undefined;
      },
      async work(tx, job, holderPage) {
        if (!holderPage) return;
        const afterUserId = await pages.notify(tx, kind.noticeOf(holderPage.match, job), holderPage);
        const next = afterUserId ? { ...job, afterUserId } : kind.followedBy?.(job);
        if (next) await jobs.put(tx, [next]);
      },
    };
    return { schema: kind.schema, handler };
  };
  return [
    jobKind('announce_match_change', moved),
    jobKind('announce_cancellation', cancelled),
    jobKind('remind_fans', comingUp(clock)),
  ];
}
