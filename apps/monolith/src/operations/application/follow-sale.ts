import type { SaleStatus } from '#domain/catalog/sale';
import { afterSeats } from '#domain/catalog/sale';
import type { Match, Seats, SeatsLeft } from './ports.ts';
import type { SettleSale } from './settle-sale.ts';
import type { TellWhatIsLeft, Told } from './tell-what-is-left.ts';

export interface Followed {
  readonly status: SaleStatus;
  readonly left: SeatsLeft;
  /** What the waiting room knows now; empty when it has to be told again. */
  readonly told: Told;
  /** Why it could not be told. */
  readonly failure?: unknown;
}

/** One look at a sale, and what follows from it: it ends or opens again, and the waiting room hears what is left. */
export class FollowSale {
  constructor(
    private readonly seats: Seats,
    private readonly settleSale: SettleSale,
    private readonly tellWhatIsLeft: TellWhatIsLeft,
  ) {}

  /** `told` undefined: the waiting room does not listen this time. */
  async execute(match: Match, told: Told | undefined): Promise<Followed> {
    const left = await this.seats.left(match.id);
    const anythingLeft = left.free + left.held > 0;
    const isSettled = afterSeats(match.saleStatus, anythingLeft) === match.saleStatus;
    const status = isSettled ? match.saleStatus : ((await this.settleSale.execute(match.id)) ?? match.saleStatus);
    if (!match.queueRequired || !told || status === 'sold_out' || status === 'closed') return { status, left, told: {} };
    try {
      return { status, left, told: await this.tellWhatIsLeft.execute(match.id, left, told) };
    } catch (failure) {
      return { status, left, told: {}, failure };
    }
  }
}
