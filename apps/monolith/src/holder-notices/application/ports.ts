import type { Transaction } from '#application/transaction-manager';

export interface NoticeMatch {
  readonly id: string;
  readonly name: string;
  readonly venue: string;
  readonly kickoffAt: Date;
  readonly isCancelled: boolean;
  readonly cancelReason: string | null;
}

export abstract class NoticeMatches {
  abstract find(matchId: string): Promise<NoticeMatch | undefined>;
  /** By kick-off, from the first that has not begun; without those that will not. */
  abstract comingUp(until: Date): Promise<readonly NoticeMatch[]>;
}

export interface Holder {
  readonly userId: string;
  /** Where they wanted their tickets sent; null for who was given one. */
  readonly orderEmail: string | null;
  readonly seats: readonly { readonly sector: string; readonly row: string | null; readonly number: number | null }[];
}

/** Who can enter a match, page by page. */
export abstract class Holders {
  abstract page(matchId: string, afterUserId: string | null, limit: number): Promise<readonly Holder[]>;
  /** All of them, their ids only. */
  abstract everybody(matchId: string): Promise<readonly string[]>;
}

export type HolderNotice =
  | { readonly kind: 'moved'; readonly match: NoticeMatch; readonly previousKickoffAt: string; readonly previousVenue: string }
  | { readonly kind: 'cancelled'; readonly match: NoticeMatch }
  | { readonly kind: 'coming up'; readonly match: NoticeMatch };

/** Mails to all of them that have an address, in their language; they leave with the transaction. */
export abstract class MatchMails {
  abstract send(tx: Transaction, notice: HolderNotice, holders: readonly Holder[]): Promise<void>;
}

/** Devices, by the language of whose they are. */
export type PushedTo = Readonly<Record<'hr' | 'en', readonly string[]>>;

/** One push to every device of many fans, as a broadcast: it leaves with the transaction. */
export abstract class MatchPushes {
  /** Asked before the transaction. */
  abstract devicesOf(userIds: readonly string[]): Promise<PushedTo>;
  abstract send(tx: Transaction, notice: HolderNotice, to: PushedTo): Promise<void>;
}

/** Which kick-offs fans were reminded of: a match that is moved is another one. */
export abstract class Reminders {
  abstract known(matchIds: readonly string[]): Promise<readonly { matchId: string; kickoffAt: Date }[]>;
  /** False when somebody else was first. */
  abstract claim(tx: Transaction, match: NoticeMatch): Promise<boolean>;
}
