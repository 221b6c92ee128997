import { StateNeeded } from '../application/ports.ts';

/** How long a request waits at most for the state of its match. The monolith usually sends it within 50 ms. */
const MAX_WAIT_MS = 500;

/**
 * Lets a request wait for a short time and try again while Redis does not know the state of its match. Otherwise the first
 * request about a match that has no waiting room would get 503 instead of 404. All requests about a match share one wait.
 */
export class AwaitState {
  private readonly waits = new Map<string, { readonly over: Promise<void>; readonly end: () => void }>();

  async run<T>(matchId: string, work: () => Promise<T>): Promise<T> {
    const deadlineMs = performance.now() + MAX_WAIT_MS;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        // `changed` may be called before the last part of the state has arrived, so try in a loop.
        if (!(error instanceof StateNeeded) || performance.now() >= deadlineMs) throw error;
      }
      await this.wait(matchId);
    }
  }

  /** Ends the wait for a match. Called on every change of its queue, because the change may be the arrival of its state. */
  changed(matchId: string): void {
    this.waits.get(matchId)?.end();
  }

  private wait(matchId: string): Promise<void> {
    const running = this.waits.get(matchId);
    if (running) return running.over;
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => end(), MAX_WAIT_MS);
    const end = () => {
      clearTimeout(timer);
      this.waits.delete(matchId);
      resolve();
    };
    this.waits.set(matchId, { over, end });
    return over;
  }
}
