import { DomainError } from '#domain/shared/domain-error';
import type { Catalog, MatchNumbers, QueueTotals, SeatTotals } from './ports.ts';

/** The current sales figures of a match. */
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
