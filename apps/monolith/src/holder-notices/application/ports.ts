import type { Transaction } from '#application/transaction-manager';

/** What notices say about a match. */
export interface NoticeMatch {
  readonly id: string;
  readonly name: string;
  readonly venue: string;
  readonly kickoffAt: Date;
  readonly isCancelled: boolean;
  readonly cancelReason: string | null;
}

/** The matches of the catalogue. */
export abstract class NoticeMatches {
  abstract find(matchId: string): Promise<NoticeMatch | undefined>;
  /** Matches that kick off between now and `until`, by kick-off, without cancelled ones. */
  abstract comingUp(until: Date): Promise<readonly NoticeMatch[]>;
}

/** A fan with valid or used tickets for a match, and the seats of these tickets. */
export interface Holder {
  readonly userId: string;
  /** The address to which the tickets were sent; null for a fan who only received a transferred ticket. */
  readonly orderEmail: string | null;
  readonly seats: readonly { readonly sector: string; readonly row: string | null; readonly number: number | null }[];
}

/** The fans who have a valid or used ticket for a match. */
export abstract class Holders {
  abstract page(matchId: string, afterUserId: string | null, limit: number): Promise<readonly Holder[]>;
  abstract allUserIds(matchId: string): Promise<readonly string[]>;
}

/** What ticket holders are told about their match. */
export type HolderNotice =
  | { readonly kind: 'moved'; readonly match: NoticeMatch; readonly previousKickoffAt: string; readonly previousVenue: string }
  | { readonly kind: 'cancelled'; readonly match: NoticeMatch }
  | { readonly kind: 'coming up'; readonly match: NoticeMatch };

/**
 * Writes one mail for each holder with an address, in the holder's language. The mails are sent only if the transaction commits.
 */
export abstract class MatchMails {
  abstract send(tx: Transaction, notice: HolderNotice, holders: readonly Holder[]): Promise<void>;
}

/** Push tokens of holders' devices, by the language of the holder. */
export type HolderDevices = Readonly<Record<'hr' | 'en', readonly string[]>>;

/** Writes one broadcast to all given devices. The broadcast is sent only if the transaction commits. */
export abstract class MatchPushes {
  /** Reads the devices of these fans. Call it before the transaction, because it reads many rows. */
  abstract devicesOf(userIds: readonly string[]): Promise<HolderDevices>;
  abstract send(tx: Transaction, notice: HolderNotice, to: HolderDevices): Promise<void>;
}

/** The kick-offs for which a reminder was planned. A match that is moved has a new kick-off and needs a new reminder. */
export abstract class Reminders {
  abstract planned(matchIds: readonly string[]): Promise<readonly { matchId: string; kickoffAt: Date }[]>;
  /** Records that the reminder for the match's kick-off is planned. Returns false if it was recorded before. */
  abstract claim(tx: Transaction, match: NoticeMatch): Promise<boolean>;
}
