import { DomainError } from '#domain/shared/domain-error';
import type { Catalog, Match } from './ports.ts';

export interface SeatTotals {
  readonly available: number;
  readonly held: number;
  readonly sold: number;
  readonly blocked: number;
  readonly refunded: number;
  readonly revenueCents: number;
  readonly orders: Readonly<Record<string, number>>;
}

export interface QueueTotals {
  readonly waiting: number;
  readonly openWindows: number;
  readonly granted: number;
  readonly completed: number;
  readonly expired: number;
}

/** Where the numbers come from. The queue's are null when there is none, or when it does not answer. */
export abstract class MatchNumbers {
  abstract seats(matchId: string): Promise<SeatTotals>;
  abstract queue(match: Match): Promise<QueueTotals | null>;
}

/** How a match is selling, now. */
export class MatchReport {
  constructor(
    private readonly catalog: Catalog,
    private readonly numbers: MatchNumbers,
  ) {}

  async execute(matchId: string): Promise<{ seats: SeatTotals; queue: QueueTotals | null }> {
    const match = await this.catalog.match(matchId);
    if (!match) throw new DomainError('NOT_FOUND', 'There is no such match.');
    const [seats, queue] = await Promise.all([this.numbers.seats(matchId), this.numbers.queue(match)]);
    return { seats, queue };
  }
}
