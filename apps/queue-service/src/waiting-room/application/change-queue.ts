import { DomainError } from '#domain/shared/domain-error';
import type { RemainingSector } from '../domain/fan-state.ts';
import type { LineMovement, QueueChange, RestoredPart, WaitingLines } from './ports.ts';

const DRAIN_BATCH = 500;

/** The operator's hand on a queue: open, pause, rate, bounds, close, and what the monolith says is left. */
export class ChangeQueue {
  constructor(
    private readonly lines: WaitingLines,
    private readonly movement: LineMovement,
  ) {}

  /** Answers whether the state of the match is known: if not, the settings are kept, and nothing is answered from them yet. */
  async control(matchId: string, change: QueueChange): Promise<{ isKnown: boolean }> {
    let isKnown = false;
    await this.untilDone(matchId, async () => {
      const changed = await this.lines.change(matchId, change);
      ({ isKnown } = changed);
      return changed.outcome;
    });
    return { isKnown };
  }

  async reportRemaining(matchId: string, sectors: readonly RemainingSector[], asOf?: number): Promise<void> {
    await this.untilDone(matchId, () => this.lines.reportRemaining(matchId, sectors, asOf));
  }

  /** One part of the state of a match; the last one lets its waiting room answer again. */
  async restore(matchId: string, part: RestoredPart): Promise<void> {
    if ((await this.untilDone(matchId, () => this.lines.restore(matchId, part))) === 'done') return;
    throw new DomainError('INVALID_STATE', 'A part before this one is missing. Begin again with part 0.');
  }

  /**
   * A queue that is closed, opened and closed again within moments still has fans of the first line without their last
   * word. They get it first; 100,000 of them take about half a second.
   */
  private async untilDone<T extends string>(matchId: string, change: () => Promise<T>): Promise<T> {
    for (;;) {
      const outcome = await change();
      if (outcome !== 'draining') return outcome;
      while ((await this.movement.drainClosed(matchId, DRAIN_BATCH)) > 0);
    }
  }
}
