import { setTimeout as sleep } from 'node:timers/promises';
import type { Fan, Match } from './fan.ts';
import type { Scene } from './scene.ts';

/** One of three fans holds seats and never buys them. */
const HOLDS_ONLY_EVERY = 3;

/** Pause between two purchases of a buyer. It keeps the load below the limit of the machine. */
const PAUSE_MS = 20;

interface BuyersOptions {
  readonly match: Match;
  readonly count: number;
  readonly sectors?: number;
  /** How long a fan waits for one answer, and for how long the fan repeats the request. */
  readonly retryLimits?: Fan['retryLimits'];
  /** Each buyer always uses the same sector, so that a delay in one sector does not affect purchases in other sectors. */
  readonly staysInSector?: boolean;
  /** One of this many purchases stops after the hold. */
  readonly holdsOnlyEvery?: number;
}

/** Concurrent buyers. Each makes one purchase after the other, each as a new fan, until `stop`. */
export class Buyers {
  bought = 0;
  readonly #scene: Scene;
  readonly #options: BuyersOptions;
  readonly #buyers: Promise<void>[];
  #isStopping = false;

  constructor(scene: Scene, options: BuyersOptions) {
    this.#scene = scene;
    this.#options = options;
    this.#buyers = Array.from({ length: options.count }, (_, number) => this.#buy(number));
  }

  /** Waits until `count` more purchases are complete. Resolves to false if they take longer than `withinMs`. */
  async waitForPurchases(count: number, withinMs: number): Promise<boolean> {
    const [target, giveUpAt] = [this.bought + count, Date.now() + withinMs];
    while (this.bought < target) {
      if (Date.now() > giveUpAt) return false;
      await sleep(20);
    }
    return true;
  }

  /** Lets all buyers finish their current purchase. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#buyers);
  }

  async #buy(number: number): Promise<void> {
    const { match, sectors = 1, retryLimits, staysInSector, holdsOnlyEvery = HOLDS_ONLY_EVERY } = this.#options;
    for (let round = number; !this.#isStopping; round += 1) {
      const fan = this.#scene.fan();
      if (retryLimits) fan.retryLimits = retryLimits;
      const options = { sector: (staysInSector ? number : round) % sectors };
      if (round % holdsOnlyEvery === 0) await fan.hold(match, options);
      else if (await fan.buy(match, options)) this.bought += 1;
      await sleep(PAUSE_MS);
    }
  }
}
