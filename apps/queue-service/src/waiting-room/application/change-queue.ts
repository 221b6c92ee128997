import type { RemainingSector } from '#domain/waiting-room/fan-state';
import type { ChangeOutcome, LineMovement, QueueChange, WaitingLines } from './ports.ts';

const DRAIN_BATCH = 500;

/** The operator's hand on a queue: open, pause, rate, bounds, close, and what the monolith says is left. */
export class ChangeQueue {
  constructor(
    private readonly lines: WaitingLines,
    private readonly movement: LineMovement,
  ) {}

  async control(matchId: string, change: QueueChange): Promise<void> {
    await this.untilDone(matchId, () => this.lines.change(matchId, change));
  }

  async reportRemaining(matchId: string, sectors: readonly RemainingSector[]): Promise<void> {
    await this.untilDone(matchId, () => this.lines.reportRemaining(matchId, sectors));
  }

  /**
   * A queue that is closed, opened and closed again within moments still has fans of the first line without their last
   * word. They get it first; 100,000 of them take about half a second.
   */
  private async untilDone(matchId: string, change: () => Promise<ChangeOutcome>): Promise<void> {
    while ((await change()) === 'draining') {
      while ((await this.movement.drainClosed(matchId, DRAIN_BATCH)) > 0);
    }
  }
}
