import type { Transaction } from '#application/transaction-manager';
import type { CatalogMatch } from '../catalog/catalog.api.ts';
import type { DevicesByLocale, FanBroadcasts } from '../fans/fans.api.ts';
import type { PurchaseApi } from '../purchase/purchase.api.ts';
import type { TicketHolder, TicketingApi } from '../ticketing/ticketing.api.ts';
import type { MatchMails } from './match-mails.ts';
import { broadcastOf } from './match-pushes.ts';

/** One job notifies this many ticket holders in one transaction; writing 500 mails takes a fraction of a second. */
const HOLDERS_PER_PAGE = 500;
const HOLDERS_PER_READ = 10_000;

/** What ticket holders are told about their match. */
export type HolderNotice = { readonly match: CatalogMatch } & (
  | { readonly kind: 'moved'; readonly previousKickoffAt: string; readonly previousVenue: string }
  | { readonly kind: 'cancelled' | 'coming up' }
);

/** A fan with valid or used tickets for a match, and the seats of these tickets. */
export interface Holder extends TicketHolder {
  /** The address to which the tickets were sent; null for a fan who only received a transferred ticket. */
  readonly orderEmail: string | null;
}

/** The part of a match's ticket holders that one job notifies. */
export interface HolderPage {
  readonly match: CatalogMatch;
  readonly holders: readonly Holder[];
  /** With the first page: the devices of all holders of the match, for one broadcast. Undefined with every later page. */
  readonly devices: DevicesByLocale | undefined;
}

/** Notifies the ticket holders of a match in pages. */
export class HolderPages {
  constructor(
    private readonly ticketing: TicketingApi,
    private readonly purchase: PurchaseApi,
    private readonly mails: MatchMails,
    private readonly broadcasts: FanBroadcasts,
  ) {}

  /** Reads the page of ticket holders that follows `afterUserId`; null is the first page. Call it before the transaction. */
  async read(match: CatalogMatch, afterUserId: string | null): Promise<HolderPage> {
    const holders = await this.ticketing.holders(match.id, { after: afterUserId, limit: HOLDERS_PER_PAGE });
    const addresses = await this.purchase.addresses(match.id, userIdsOf(holders));
    return {
      match,
      holders: holders.map((holder) => ({ ...holder, orderEmail: addresses.get(holder.userId) ?? null })),
      devices: afterUserId === null ? await this.broadcasts.devicesOf(await this.allUserIds(match.id)) : undefined,
    };
  }

  /**
   * Writes a notice to one page of ticket holders: a mail to each of them, and with the first page one broadcast to the phones of
   * all ticket holders. Returns the page's last user id, or undefined after the last page.
   */
  async notify(tx: Transaction, notice: HolderNotice, { holders, devices }: HolderPage): Promise<string | undefined> {
    await this.mails.send(tx, notice, holders);
    if (devices) await this.broadcasts.create(tx, broadcastOf(notice, devices));
    return holders.length === HOLDERS_PER_PAGE ? holders.at(-1)?.userId : undefined;
  }

  private async allUserIds(matchId: string): Promise<readonly string[]> {
    const userIds: string[] = [];
    for (;;) {
      const holders = await this.ticketing.holders(matchId, { after: userIds.at(-1) ?? null, limit: HOLDERS_PER_READ });
      userIds.push(...userIdsOf(holders));
      if (holders.length < HOLDERS_PER_READ) return userIds;
    }
  }
}

const userIdsOf = (holders: readonly TicketHolder[]): string[] => holders.map(({ userId }) => userId);
