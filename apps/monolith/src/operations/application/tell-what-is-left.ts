import type { SaleStatus } from '#domain/catalog/sale';
import type { Catalog, Queues, SeatsLeft } from './ports.ts';

/** What the waiting room was told last; empty when nobody knows. */
export interface Told {
  readonly usefulWindows?: number;
  /** The sectors that have seats, and how many, as one text. */
  readonly remaining?: string;
}

const tellable: readonly SaleStatus[] = ['scheduled', 'open', 'paused'];

/**
 * Tells the waiting room how many windows could still find a seat, and those who wait which sectors are left; each only when it is not what was told before. "Nothing left" is not for here: that is a state of
 * the sale. The state is read again when the queue is ours alone, so that it cannot overtake an operator's.
 */
export class TellWhatIsLeft {
  constructor(
    private readonly catalog: Catalog,
    private readonly queues: Queues,
  ) {}

  async execute(matchId: string, left: SeatsLeft, told: Told): Promise<Told> {
    const free = left.sectors.filter(({ available }) => available > 0);
    const { usefulWindows, countedAtMs } = left;
    const remaining = free.map(({ sectorId, available }) => `${sectorId} ${available}`).join();
    const news = { windows: usefulWindows !== told.usefulWindows, sectors: remaining !== told.remaining && free.length > 0 };
    if (!news.windows && !news.sectors) return { usefulWindows, remaining };
    return this.queues.exclusively(matchId, async () => {
      const match = await this.catalog.match(matchId);
      if (!match?.queueRequired || !tellable.includes(match.saleStatus)) return {};
      if (news.windows) await this.queues.tell(match, usefulWindows);
      if (news.sectors) {
        const names = new Map((await this.catalog.sectors(matchId)).map(({ id, name }) => [id, name]));
        await this.queues.tellRemaining(
          matchId,
          free.map((sector) => ({ ...sector, name: names.get(sector.sectorId) ?? '' })),
          countedAtMs,
        );
      }
      return { usefulWindows, remaining };
    });
  }
}
