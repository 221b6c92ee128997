import type { JobKind } from '#messaging/jobs/job-runner';
import { z } from 'zod';
import type { RemindHolders } from './remind-holders.ts';
import type { TellCancellation } from './tell-cancellation.ts';
import type { TellMatchChange } from './tell-match-change.ts';

const page = { matchId: z.guid(), afterUserId: z.guid().nullable() };

const announceMatchChange = z.object({
  ...page,
  class: z.literal('announce_match_change'),
  previousKickoffAt: z.iso.datetime(),
  previousVenue: z.string(),
});

const announceCancellation = z.object({ ...page, class: z.literal('announce_cancellation') });

const remindFans = z.object({ ...page, class: z.literal('remind_fans') });

/** The three kinds of jobs that send notices to ticket holders, with their schemas and handlers. */
export function noticeJobs(
  tellMatchChange: TellMatchChange,
  tellCancellation: TellCancellation,
  remindHolders: RemindHolders,
): readonly JobKind[] {
  return [
    { schema: announceMatchChange, handler: tellMatchChange },
    { schema: announceCancellation, handler: tellCancellation },
    { schema: remindFans, handler: remindHolders },
  ];
}
