import type { SaleStatus } from '#domain/catalog/sale';
import type { Catalog, Queues, Seats, SeatsLeft } from './ports.ts';

/** What the waiting room was told last; empty when nobody knows. */
export interface Told {
  readonly usefulWindows?: number;
  /** The sectors that have seats, and how many, as one text. */
  readonly remaining?: string;
}

const tellable: readonly SaleStatus[] = ['scheduled', 'open', 'paused'];

/**
 * Tells the waiting room how many windows are useful, and the waiting fans which sectors are left; each only when it is not what was
 * told before. "Nothing left" is not told here: that is a state of the sale.
 *
 * State and seats are read again within `exclusively`. Every number the waiting room is told is counted there, so an older count
 * cannot overwrite a newer one: otherwise the window of the fan who bought the last seat would become the window of another.
 */
export class TellWhatIsLeft {
  constructor(
    private readonly catalog: Catalog,
    private readonly queues: Queues,
    private readonly seats: Seats,
  ) {}

  async execute(matchId: string, left: SeatsLeft, told: Told): Promise<Told> {
    if (Object.values(changes(left, told)).every((hasChanged) => !hasChanged)) return toldOf(left);
    return this.queues.exclusively(matchId, async () => {
      const match = await this.catalog.match(matchId);
      if (!match?.queueRequired || !tellable.includes(match.saleStatus)) return {};
      const now = await this.seats.leftNow(matchId);
      const changed = changes(now, told);
      if (changed.windows) await this.queues.tell(match, now.usefulWindows);
      if (changed.sectors) await this.tellSectors(matchId, now);
      return toldOf(now);
    });
  }

  private async tellSectors(matchId: string, now: SeatsLeft): Promise<void> {
    const names = new Map((await this.catalog.sectors(matchId)).map(({ id, name }) => [id, name]));
    const sectors = withSeats(now).map((sector) => ({ ...sector, name: names.get(sector.sectorId) ?? '' }));
    await this.queues.tellRemaining(matchId, sectors, now.countedAtMs);
  }
}

function changes(left: SeatsLeft, told: Told): { readonly windows: boolean; readonly sectors: boolean } {
  const { usefulWindows, remaining } = toldOf(left);
  return { windows: usefulWindows !== told.usefulWindows, sectors: remaining !== told.remaining && remaining !== '' };
}

function toldOf(left: SeatsLeft): Required<Told> {
  const remaining = withSeats(left).map(({ sectorId, available }) => `${sectorId} ${available}`);
  return { usefulWindows: left.usefulWindows, remaining: remaining.join() };
}

function withSeats({ sectors }: SeatsLeft): SeatsLeft['sectors'] {
  return sectors.filter(({ available }) => available > 0);
}
