/** Everybody with a ticket is told that the match is at another time or place. One job is one page of fans and makes the next. */
export interface AnnounceMatchChange {
  readonly class: 'announce_match_change';
  readonly matchId: string;
  readonly previousKickoffAt: string;
  readonly previousVenue: string;
  /** The last fan of the page before; null on the first. */
  readonly afterUserId: string | null;
}

/** Everybody with a ticket is reminded that the match is coming up. */
export interface RemindFans {
  readonly class: 'remind_fans';
  readonly matchId: string;
  readonly afterUserId: string | null;
}

/** Everybody with a ticket is told that there will be no match; what they paid goes back once all of them have been told. */
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

/** What has to be told when an operator changed these facts; usually nothing. */
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

/** Fans are reminded in the last day before the kick-off, and not of a match that has begun. */
export function isReminderDue(kickoffAt: Date, now: Date): boolean {
  const aheadMs = kickoffAt.getTime() - now.getTime();
  return aheadMs > 0 && aheadMs <= DAY_MS;
}
