import { DomainError } from '#domain/shared/domain-error';
import type { RemainingSector } from '../domain/fan-state.ts';
import type { QueueChange, RestoredPart, WaitingLines } from './ports.ts';

const DRAIN_BATCH = 500;

/**
 * Changes the queue of a match for the monolith: opens, pauses, closes and restores it, sets its rate and limits and the
 * remaining sectors.
 */
export class ChangeQueue {
  constructor(private readonly lines: WaitingLines) {}

  /**
   * Changes settings. `isKnown` is false while Redis lacks the state of the match: the settings are stored, but fans are not
   * served yet.
   */
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

  /** Stores one part of the state of a match that Redis has lost. After the last part, requests of fans are answered again. */
  async restore(matchId: string, part: RestoredPart): Promise<void> {
    if ((await this.untilDone(matchId, () => this.lines.restore(matchId, part))) === 'done') return;
    throw new DomainError('INVALID_STATE', 'An earlier part is missing. Start again with part 0.');
  }

  /**
   * Repeats a change until it is done. When a queue is closed twice within a short time, some fans of the first line may not have
   * their final state yet (outcome 'draining'). Their final states are written first; 100,000 fans take about half a second.
   */
  private async untilDone<T extends string>(matchId: string, change: () => Promise<T>): Promise<T> {
    for (;;) {
      const outcome = await change();
      if (outcome !== 'draining') return outcome;
      while ((await this.lines.drainClosed(matchId, DRAIN_BATCH)) > 0);
    }
  }
}
