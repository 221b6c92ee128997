import { StateNeeded } from '../application/ports.ts';

/** The monolith usually sends the state of a match within a tenth of this. */
const PATIENCE_MS = 500;

/**
 * A request about a match whose state Redis does not know waits a moment for it and tries again. Without this, the first request
 * about any match that has no waiting room would be 503 instead of 404. All requests of a match share one wait.
 */
export class AwaitState {
  private readonly waits = new Map<string, { readonly over: Promise<void>; readonly end: () => void }>();

  async run<T>(matchId: string, work: () => Promise<T>): Promise<T> {
    const giveUpAt = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        // A change may be told before the last part of the state is there.
        if (!(error instanceof StateNeeded) || performance.now() >= giveUpAt) throw error;
      }
      await this.wait(matchId);
    }
  }

  /** Something about this match has changed, perhaps its state has come. */
  changed(matchId: string): void {
    this.waits.get(matchId)?.end();
  }

  private wait(matchId: string): Promise<void> {
    const known = this.waits.get(matchId);
    if (known) return known.over;
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => end(), PATIENCE_MS);
    const end = () => {
      clearTimeout(timer);
      this.waits.delete(matchId);
      resolve();
    };
    this.waits.set(matchId, { over, end });
    return over;
  }
}
