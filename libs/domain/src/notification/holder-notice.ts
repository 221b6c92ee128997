/**
 * Background job: tells all ticket holders that kickoff or venue has changed. One job handles one page of fans and puts the job for
 * the next page.
 */
export interface AnnounceMatchChange {
  readonly class: 'announce_match_change';
  readonly matchId: string;
  readonly previousKickoffAt: string;
  readonly previousVenue: string;
  /** The last fan of the previous page; null for the first page. */
  readonly afterUserId: string | null;
}

/** Background job: reminds all ticket holders of the match, page by page. */
export interface RemindFans {
  readonly class: 'remind_fans';
  readonly matchId: string;
  readonly afterUserId: string | null;
}

/** Background job: tells all ticket holders that the match is cancelled, page by page. The refunds start after the last page. */
export interface AnnounceCancellation {
  readonly class: 'announce_cancellation';
  readonly matchId: string;
  readonly afterUserId: string | null;
}

interface Scheduled {
  readonly id: string;
  readonly kickoffAt: Date;
  readonly venue: string;
  readonly cancelledAt: Date | null;
}

/** The jobs to put after an operator has changed a match. Usually none. */
export function matchChanged(before: Scheduled, after: Scheduled): (AnnounceMatchChange | AnnounceCancellation)[] {
  if (after.cancelledAt !== null)
    return before.cancelledAt === null ? [{ class: 'announce_cancellation', matchId: after.id, afterUserId: null }] : [];
  if (before.kickoffAt.getTime() === after.kickoffAt.getTime() && before.venue === after.venue) return [];
  return [
    {
      class: 'announce_match_change',
      matchId: after.id,
      previousKickoffAt: before.kickoffAt.toISOString(),
      previousVenue: before.venue,
      afterUserId: null,
    },
  ];
}

const DAY_MS = 86_400_000;

/** True in the last 24 hours before the kickoff, and not after it. */
export function isReminderDue(kickoffAt: Date, now: Date): boolean {
  const aheadMs = kickoffAt.getTime() - now.getTime();
  return aheadMs > 0 && aheadMs <= DAY_MS;
}
