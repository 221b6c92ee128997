import { linePace } from '../domain/wait-estimate.ts';
import type { LineMovement, WaitingLines } from './ports.ts';

/**
 * Names the fans without a socket who have come a long way forward (place 1,000, 100 or 10), so that they get a push. Whether
 * it is time is decided in Redis: any pod may ask at any time.
 */
export class CallPassed {
  constructor(
    private readonly lines: WaitingLines,
    private readonly movement: LineMovement,
    private readonly purchaseWindowMs: number,
  ) {}

  async runOnce(matchId: string): Promise<number> {
    const queue = await this.lines.readQueue(matchId);
    if (queue?.status !== 'active' || queue.total === 0) return 0;
    return this.movement.announcePositions(matchId, linePace(queue, this.purchaseWindowMs));
  }
}
