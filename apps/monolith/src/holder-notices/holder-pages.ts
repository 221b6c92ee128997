import type { Transaction } from '#application/transaction-manager';
import type { DevicesByLocale } from '../fans/fans.api.ts';
import type { MatchMails } from './match-mails.ts';
import type { MatchPushes } from './match-pushes.ts';
import type { HolderNotice, NoticeMatch } from './notice-matches.ts';
import type { Holder, TicketHolders } from './ticket-holders.ts';

/** One job notifies this many ticket holders in one transaction; writing 500 mails takes a fraction of a second. */
const HOLDERS_PER_PAGE = 500;

/** The part of a match's ticket holders that one job notifies. */
export interface HolderPage {
  readonly match: NoticeMatch;
  readonly holders: readonly Holder[];
  /** With the first page: the devices of all holders of the match, for one broadcast. Undefined with every later page. */
  readonly devices: DevicesByLocale | undefined;
}

/** Notifies the ticket holders of a match in pages. */
export class HolderPages {
  constructor(
    private readonly holders: TicketHolders,
    private readonly mails: MatchMails,
    private readonly pushes: MatchPushes,
  ) {}

  /** Reads the page of ticket holders that follows `afterUserId`; null is the first page. */
  async read(match: NoticeMatch, afterUserId: string | null): Promise<HolderPage> {
    return {
      match,
      holders: await this.holders.page(match.id, afterUserId, HOLDERS_PER_PAGE),
      devices: afterUserId === null ? await this.pushes.devicesOf(await this.holders.allUserIds(match.id)) : undefined,
    };
  }

  /**
   * Writes a notice to one page of ticket holders: a mail to each of them, and with the first page one broadcast to the phones of
   * all ticket holders. Returns the page's last user id, or undefined after the last page.
   */
  async notify(tx: Transaction, notice: HolderNotice, { holders, devices }: HolderPage): Promise<string | undefined> {
    await this.mails.send(tx, notice, holders);
    if (devices) await this.pushes.send(tx, notice, devices);
    return holders.length === HOLDERS_PER_PAGE ? holders.at(-1)?.userId : undefined;
  }
}
