import type { Transaction } from '#application/transaction-manager';
import type { Holder, Holders, MatchMails, MatchPushes, HolderNotice, NoticeMatch, HolderDevices } from './ports.ts';

/** One job notifies this many ticket holders in one transaction; writing 500 mails takes a fraction of a second. */
export const HOLDERS_PER_PAGE = 500;

/** The part of a match's ticket holders that one job notifies. */
export interface HolderPage {
  readonly match: NoticeMatch;
  readonly holders: readonly Holder[];
  /** With the first page: the devices of all holders of the match, for one broadcast. Undefined with every later page. */
  readonly devices: HolderDevices | undefined;
}

/** Reads the page of ticket holders that follows `afterUserId`; null is the first page. */
export async function readHolderPage(
  match: NoticeMatch,
  afterUserId: string | null,
  { holders, pushes }: { holders: Holders; pushes: MatchPushes },
): Promise<HolderPage> {
  return {
    match,
    holders: await holders.page(match.id, afterUserId, HOLDERS_PER_PAGE),
    devices: afterUserId === null ? await pushes.devicesOf(await holders.allUserIds(match.id)) : undefined,
  };
}

/**
 * Writes a notice to one page of ticket holders: a mail to each of them, and with the first page one broadcast to the phones of
 * all ticket holders. Returns the page's last user id, or undefined after the last page.
 */
export async function notifyHolderPage(
  tx: Transaction,
  notice: HolderNotice,
  { holders, devices }: HolderPage,
  { mails, pushes }: { mails: MatchMails; pushes: MatchPushes },
): Promise<string | undefined> {
  await mails.send(tx, notice, holders);
  if (devices) await pushes.send(tx, notice, devices);
  return holders.length === HOLDERS_PER_PAGE ? holders.at(-1)?.userId : undefined;
}
