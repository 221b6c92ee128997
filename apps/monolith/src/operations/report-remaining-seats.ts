import type { SaleStatus } from '#domain/catalog/sale';
import type { CatalogApi } from '../catalog/catalog.api.ts';
import type { PurchaseApi, SeatsLeft } from '../purchase/purchase.api.ts';
import type { WaitingRoomApi } from '../waiting-room/waiting-room.api.ts';

/** What the waiting room was told last. Empty if we do not know. */
export interface SentReport {
  readonly usefulWindows?: number;
  /** The sectors that have seats, with their numbers of seats, as one text. */
  readonly sectors?: string;
}

const reportedStatuses: readonly SaleStatus[] = ['scheduled', 'open', 'paused'];

/**
 * Tells the waiting room how many windows are useful (may still find a seat), and the fans in line which sectors have seats. Each
 * report is sent only if it differs from the one sent before. "No seats" is not sent here: that is the sale status `sold_out`.
 *
 * Status and seats are read again under the queue lock. Every number sent to the waiting room is counted under that lock, so an
 * older count cannot overwrite a newer one. Otherwise the window of the fan who bought the last seat could be granted to the next
 * fan, who would find no seat.
 */
export class ReportRemainingSeats {
  constructor(
    private readonly catalog: CatalogApi,
    private readonly waitingRoom: WaitingRoomApi,
    private readonly purchase: PurchaseApi,
  ) {}

  /** Returns what the waiting room knows after this call. */
  async execute(matchId: string, remaining: SeatsLeft, lastSent: SentReport): Promise<SentReport> {
    if (Object.values(changes(remaining, lastSent)).every((hasChanged) => !hasChanged)) return reportOf(remaining);
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
