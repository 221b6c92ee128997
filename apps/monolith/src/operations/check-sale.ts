import type { Ids } from '#application/ids';
import type { Outbox } from '#application/outbox';
import type { TransactionManager } from '#application/transaction-manager';
import type { SaleStatus } from '#domain/catalog/sale';
import { saleStatusAfterSeats } from '#domain/catalog/sale-changes';
import type { CatalogApi, CatalogMatch } from '../catalog/catalog.api.ts';
import type { PurchaseApi, SeatsLeft } from '../purchase/purchase.api.ts';
import type { WaitingRoomApi } from '../waiting-room/waiting-room.api.ts';

/** What the waiting room was told last. Empty if we do not know. */
export interface SentReport {
  readonly usefulWindows?: number;
  /** The sectors that have seats, with their numbers of seats, as one text. */
  readonly sectors?: string;
}

/** What one check of a sale found, and what it told the waiting room. */
export interface SaleCheckResult {
  readonly status: SaleStatus;
  readonly remaining: SeatsLeft;
  /** What the waiting room knows now. Empty if the next check must tell it everything again. */
  readonly sent: SentReport;
  /** The error, if the waiting room could not be reached. */
  readonly failure?: unknown;
}

const reportedStatuses: readonly SaleStatus[] = ['scheduled', 'open', 'paused'];

/** Checks one sale: ends it if it is sold out, reopens it if seats came back, and tells the waiting room which seats remain. */
export class CheckSale {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly catalog: CatalogApi,
    private readonly purchase: PurchaseApi,
    private readonly waitingRoom: WaitingRoomApi,
    private readonly outbox: Outbox,
    private readonly ids: Ids,
  ) {}

  /** `lastSent` is what the waiting room was told last. Undefined: do not call the waiting room this time. */
  async execute(match: CatalogMatch, lastSent: SentReport | undefined): Promise<SaleCheckResult> {
    const remaining = await this.purchase.seatsLeft(match.id);
    const hasSeats = remaining.free + remaining.held > 0;
    const isUpToDate = saleStatusAfterSeats(match.saleStatus, hasSeats) === match.saleStatus;
    const status = isUpToDate ? match.saleStatus : ((await this.endOrReopen(match.id)) ?? match.saleStatus);
    if (!match.queueRequired || !lastSent || !reportedStatuses.includes(status)) return { status, remaining, sent: {} };
    try {
      return { status, remaining, sent: await this.report(match.id, remaining, lastSent) };
    } catch (failure) {
      return { status, remaining, sent: {}, failure };
    }
  }

  /**
   * Ends a sale when no seat is free or held, and reopens it when seats came back. The caller decides by a count that may be stale,
   * so the seats are read again in the transaction that changes the sale. If another transaction changes a seat at the same time,
   * SERIALIZABLE makes one of the two transactions run again. The message to the waiting room commits with the change, so a crash
   * delays it but does not lose it. Under the queue lock no operator changes the same match at the same time.
   *
   * Returns the state of the sale after the check; undefined if the match does not exist.
   */
  endOrReopen(matchId: string): Promise<SaleStatus | undefined> {
    return this.waitingRoom.withQueueLock(matchId, () =>
      this.transactions.run(async (tx) => {
        const match = await this.catalog.match(matchId, tx);
        if (!match) return undefined;
        const saleStatus = saleStatusAfterSeats(match.saleStatus, await this.purchase.hasSeatsLeft(tx, matchId));
        if (saleStatus === match.saleStatus) return saleStatus;
        await this.catalog.update(tx, matchId, { saleStatus });
        if (match.queueRequired) {
          const event = saleStatus === 'sold_out' ? 'match.sold_out' : 'match.reopened';
          const body = { kind: 'sync', match_id: matchId };
          await this.outbox.append(tx, [{ id: this.ids.next(), destination: 'waiting-room', event, aggregateId: matchId, body }]);
        }
        return saleStatus;
      }),
    );
  }

  /**
   * Tells the waiting room how many windows are useful (may still find a seat), and the fans in line which sectors have seats. Each
   * report is sent only if it differs from the one sent before. "No seats" is not sent here: that is the sale status `sold_out`.
   *
   * Status and seats are read again under the queue lock. Every number sent to the waiting room is counted under that lock, so an
   * older count cannot overwrite a newer one. Otherwise the window of the fan who bought the last seat could be granted to the next
   * fan, who would find no seat.
   *
   * Returns what the waiting room knows after this call.
   */
  async report(matchId: string, remaining: SeatsLeft, lastSent: SentReport): Promise<SentReport> {
    const { windows, sectors } = changes(remaining, lastSent);
    if (!windows && !sectors) return reportOf(remaining);
    return this.waitingRoom.withQueueLock(matchId, async () => {
      const match = await this.catalog.match(matchId);
      if (!match?.queueRequired || !reportedStatuses.includes(match.saleStatus)) return {};
      const now = await this.purchase.seatsLeftNow(matchId);
      const changed = changes(now, lastSent);
      if (changed.windows) await this.waitingRoom.sync(match, now.usefulWindows);
      if (changed.sectors) await this.reportSectors(matchId, now);
      return reportOf(now);
    });
  }

  private async reportSectors(matchId: string, remaining: SeatsLeft): Promise<void> {
    const names = new Map((await this.catalog.sectors(matchId)).map(({ id, name }) => [id, name]));
    const sectors = withSeats(remaining).map(({ sectorId, available }) => ({
      sector_id: sectorId,
      name: names.get(sectorId) ?? '',
      available,
    }));
    await this.waitingRoom.reportRemaining(matchId, sectors, remaining.countedAtMs);
  }
}

function changes(remaining: SeatsLeft, lastSent: SentReport): { readonly windows: boolean; readonly sectors: boolean } {
  const { usefulWindows, sectors } = reportOf(remaining);
  return { windows: usefulWindows !== lastSent.usefulWindows, sectors: sectors !== lastSent.sectors && sectors !== '' };
}

function reportOf(remaining: SeatsLeft): Required<SentReport> {
  const sectors = withSeats(remaining).map(({ sectorId, available }) => `${sectorId} ${available}`);
  return { usefulWindows: remaining.usefulWindows, sectors: sectors.join() };
}

function withSeats({ sectors }: SeatsLeft): SeatsLeft['sectors'] {
  return sectors.filter(({ available }) => available > 0);
}
