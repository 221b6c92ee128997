import { linePace } from '../domain/wait-estimate.ts';
import type { WaitingLines } from './ports.ts';

/**
 * Publishes an event that names fans who have no connection and have reached position 1,000, 100 or 10, so that they get a push
 * notification. Any pod may call `runOnce` at any time: the script in Redis publishes at most one event a minute.
 */
export class AnnouncePositions {
  constructor(
    private readonly lines: WaitingLines,
    private readonly settings: { readonly purchaseWindowMs: number },
  ) {}

  async runOnce(matchId: string): Promise<number> {
    const queue = await this.lines.readQueue(matchId);
    if (queue?.status !== 'active' || queue.total === 0) return 0;
    return this.lines.announcePositions(matchId, linePace(queue, this.settings.purchaseWindowMs));
  }
}
