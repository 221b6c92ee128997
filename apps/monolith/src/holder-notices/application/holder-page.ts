import type { Transaction } from '#application/transaction-manager';
import type { Holder, Holders, MatchMails, MatchPushes, HolderNotice, NoticeMatch, HolderDevices } from './ports.ts';

/** One job handles this many fans in one transaction; 500 mails take a fraction of a second. */
export const HOLDERS_PER_PAGE = 500;

export interface HolderPage {
  readonly match: NoticeMatch;
  readonly holders: readonly Holder[];
  /** With the first page: the devices of all holders of the match, for one broadcast. Undefined with every other page. */
  readonly devices: HolderDevices | undefined;
}

/** Reads the page of ticket holders that follows `afterUserId`; null is the first page. */
export async function readPage(
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

/** Writes the mails of one page, and with the first page the broadcast. Returns the last user id, or undefined after the last page. */
export async function notifyPage(
  tx: Transaction,
  notice: HolderNotice,
  { holders, devices }: HolderPage,
  { mails, pushes }: { mails: MatchMails; pushes: MatchPushes },
): Promise<string | undefined> {
  await mails.send(tx, notice, holders);
  if (devices) await pushes.send(tx, notice, devices);
  return holders.length === HOLDERS_PER_PAGE ? holders.at(-1)?.userId : undefined;
}
