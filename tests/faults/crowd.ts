import { setTimeout as sleep } from 'node:timers/promises';
import type { Fan, Match } from './fan.ts';
import type { Scene } from './scene.ts';

/** Every third fan only holds, as many do. */
const HOLDS_ONLY = 3;

/** Between two purchases of a buyer: a crowd that thinks leaves the machine some breath. */
const THINK_MS = 20;

interface CrowdOptions {
  readonly match: Match;
  readonly buyers: number;
  readonly sectors?: number;
  /** Whoever gets no answer asks again for so long. */
  readonly patience?: Fan['patience'];
  /** Each buyer stays with a sector, so that one who waits there says nothing about the others. */
  readonly isLoyal?: boolean;
  /** Every so many wants no more than to hold. */
  readonly holdsOnly?: number;
}

/** So many buyers, each a new fan for every purchase, one purchase after the other until it is stopped. */
export class Crowd {
  bought = 0;
  readonly #scene: Scene;
  readonly #options: CrowdOptions;
  readonly #buyers: Promise<void>[];
  #isStopping = false;

  constructor(scene: Scene, options: CrowdOptions) {
    this.#scene = scene;
    this.#options = options;
    this.#buyers = Array.from({ length: options.buyers }, (_, number) => this.#buy(number));
  }

  /** Resolves when so many more have been bought: the sale goes on. */
  async sells(count: number, withinMs: number): Promise<boolean> {
    const [wanted, giveUpAt] = [this.bought + count, Date.now() + withinMs];
    while (this.bought < wanted) {
      if (Date.now() > giveUpAt) return false;
      await sleep(20);
    }
    return true;
  }

  /** Everybody finishes what they have begun. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#buyers);
  }

  async #buy(number: number): Promise<void> {
    const { match, sectors = 1, patience, isLoyal, holdsOnly = HOLDS_ONLY } = this.#options;
    for (let round = number; !this.#isStopping; round += 1) {
      const fan = this.#scene.fan();
      if (patience) fan.patience = patience;
      const wish = { sector: (isLoyal ? number : round) % sectors };
      if (round % holdsOnly === 0) await fan.hold(match, wish);
      else if (await fan.buy(match, wish)) this.bought += 1;
      await sleep(THINK_MS);
    }
  }
}
