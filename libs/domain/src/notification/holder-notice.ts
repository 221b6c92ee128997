/**
 * Background job: tells all ticket holders of a match that its kickoff or venue has changed. One job handles one page of fans and
 * adds the job for the next page to the queue.
 */
export interface AnnounceMatchChange {
  readonly class: 'announce_match_change';
  readonly matchId: string;
  readonly previousKickoffAt: string;
  readonly previousVenue: string;
  /** The last fan of the previous page; null for the first page. */
  readonly afterUserId: string | null;
}

/** Background job: reminds all ticket holders that their match is coming up. One job for each page of fans. */
export interface RemindFans {
  readonly class: 'remind_fans';
  readonly matchId: string;
  readonly afterUserId: string | null;
}

/**
 * Background job: tells all ticket holders that the match is cancelled. One job for each page of fans; refunds start after the last
 * page.
 */
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

/**
 * The jobs that inform ticket holders after an operator has changed a match. Empty unless kickoff, venue or the cancellation
 * changed.
 */
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

/** True in the last 24 hours before the kickoff: ticket holders should be reminded now. False from the kickoff on. */
export function isReminderDue(kickoffAt: Date, now: Date): boolean {
  const aheadMs = kickoffAt.getTime() - now.getTime();
  return aheadMs > 0 && aheadMs <= DAY_MS;
}
