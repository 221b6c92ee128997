import type { Transaction } from '#application/transaction-manager';
import type { Holder, Holders, MatchMails, MatchPushes, HolderNotice, NoticeMatch, PushedTo } from './ports.ts';

/** A transaction of some hundred mails takes a fraction of a second. */
export const FANS_A_PAGE = 500;

export interface Page {
  readonly match: NoticeMatch;
  readonly holders: readonly Holder[];
  /** Whose devices are told: with the first page all of them, as one broadcast, and nobody with the others. */
  readonly pushedTo: PushedTo | undefined;
}

export async function pageOf(
  match: NoticeMatch,
  afterUserId: string | null,
  { holders, pushes }: { holders: Holders; pushes: MatchPushes },
): Promise<Page> {
  return {
    match,
    holders: await holders.page(match.id, afterUserId, FANS_A_PAGE),
    pushedTo: afterUserId === null ? await pushes.devicesOf(await holders.everybody(match.id)) : undefined,
  };
}

/** Tells them. The user after whom the next page begins; undefined when this was the last. */
export async function tellPage(
  tx: Transaction,
  notice: HolderNotice,
  { holders, pushedTo }: Page,
  { mails, pushes }: { mails: MatchMails; pushes: MatchPushes },
): Promise<string | undefined> {
  await mails.send(tx, notice, holders);
  if (pushedTo) await pushes.send(tx, notice, pushedTo);
  return holders.length === FANS_A_PAGE ? holders.at(-1)?.userId : undefined;
}
