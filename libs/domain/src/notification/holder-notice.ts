/** Background job: tells something to all ticket holders of a match. One job handles one page of fans and adds the job for the next page. */
interface HolderNotice<Class extends string> {
  readonly class: Class;
  readonly matchId: string;
  /** The last fan of the previous page; null for the first page. */
  readonly afterUserId: string | null;
}

/** Tells that the kickoff or venue has changed. */
export interface AnnounceMatchChange extends HolderNotice<'announce_match_change'> {
  readonly previousKickoffAt: string;
  readonly previousVenue: string;
}

/** Reminds of a match that is coming up. */
export type RemindFans = HolderNotice<'remind_fans'>;

/** Tells that the match is cancelled. Refunds start after the last page. */
export type AnnounceCancellation = HolderNotice<'announce_cancellation'>;

interface Scheduled {
  readonly id: string;
  readonly kickoffAt: Date;
  readonly venue: string;
  readonly cancelledAt: Date | null;
}

/**
 * The jobs that inform ticket holders after an operator has changed a match. Empty unless kickoff, venue or the cancellation
 * changed.
 */
export function matchChanged(before: Scheduled, after: Scheduled): (AnnounceMatchChange | AnnounceCancellation)[] {
  const firstPage = { matchId: after.id, afterUserId: null };
  if (after.cancelledAt !== null) return before.cancelledAt === null ? [{ class: 'announce_cancellation', ...firstPage }] : [];
  if (before.kickoffAt.getTime() === after.kickoffAt.getTime() && before.venue === after.venue) return [];
  return [
    {
      class: 'announce_match_change',
      ...firstPage,
      previousKickoffAt: before.kickoffAt.toISOString(),
      previousVenue: before.venue,
    },
  ];
}

const DAY_MS = 86_400_000;

/** True in the last 24 hours before the kickoff: ticket holders should be reminded now. False from the kickoff on. */
export function isReminderDue(kickoffAt: Date, now: Date): boolean {
  const aheadMs = kickoffAt.getTime() - now.getTime();
  return aheadMs > 0 && aheadMs <= DAY_MS;
}
