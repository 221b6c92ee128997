// One process of buyers, led by bench/purchase.ts over IPC: opens its shop, warms up, and buys in a closed loop when told to.
import 'reflect-metadata';
import { ClosedLoop, type LoopResult } from '../instruments/closed-loop.ts';
import { openHttpShop } from './http-shop.ts';
import type { Shop, ShopAddress, ShopKind } from './shop.ts';
import type { MatchToSell } from './stadiums.ts';
import { openTextbookShop } from './textbook.ts';
import { openUseCaseShop } from './use-case-shop.ts';

export interface Assignment {
  readonly kind: ShopKind;
  readonly address: ShopAddress;
  readonly matches: readonly MatchToSell[];
  /** So many of the first are for warming up. */
  readonly warmUpMatches: number;
  /** Of buyers, in all. */
  readonly processes: number;
}

export type ToWorker =
  | { readonly say: 'open'; readonly assignment: Assignment }
  | { readonly say: 'warm up'; readonly seconds: number }
  | { readonly say: 'buy'; readonly seconds: number }
  /** Buy from this one from now on; beyond the last one there is nothing left to buy. */
  | { readonly say: 'match'; readonly index: number }
  | { readonly say: 'close' };

export interface Bought extends LoopResult {
  readonly retries: number;
}

export type FromWorker =
  | { readonly say: 'open' | 'closed' }
  | { readonly say: 'warm'; readonly bought: number }
  | { readonly say: 'progress'; readonly bought: number }
  | { readonly say: 'done'; readonly result: Bought }
  | { readonly say: 'failed'; readonly reason: string };

/** Each message is work of the buyers and of us: at 40,000 reservations a second 80 of them. */
const REPORT_EVERY = 500;

const open: Record<ShopKind, (address: ShopAddress) => Promise<Shop>> = {
  'use case': openUseCaseShop,
  textbook: openTextbookShop,
  'holds over HTTP': (address) => openHttpShop(address, { whole: false }),
  'purchases over HTTP': (address) => openHttpShop(address, { whole: true }),
};

const tell = (message: FromWorker): void => void process.send?.(message);
const anyOf = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)]!;
const wishFor = ({ id, sectorIds }: MatchToSell) => ({ matchId: id, sectorId: anyOf(sectorIds) });

class Worker {
  readonly #shop: Shop;
  readonly #assignment: Assignment;
  #match = 0;
  #loop: ClosedLoop | undefined;

  private constructor(shop: Shop, assignment: Assignment) {
    this.#shop = shop;
    this.#assignment = assignment;
  }

  static async open(assignment: Assignment): Promise<Worker> {
    return new Worker(await open[assignment.kind](assignment.address), assignment);
  }

  /** Once in every sector of every match, so that what is loaded at the first touch is there, then anywhere in the first one. */
  async warmUp(seconds: number): Promise<void> {
    const { matches, address } = this.#assignment;
    const wishes = matches.flatMap(({ id, sectorIds }) => sectorIds.map((sectorId) => ({ matchId: id, sectorId })));
    let bought = 0;
    const visit = async (caller: number): Promise<void> => {
      for (let wish = wishes.pop(); wish; wish = wishes.pop()) {
        if ((await this.#shop.buy(wish, caller)) === undefined) bought += 1;
      }
    };
    await Promise.all(Array.from({ length: address.callers }, (_, caller) => visit(caller)));
    let [match, left] = [0, this.#warmUpOf(0)];
    const onDone = (): void => {
      left -= 1;
      if (left > 0) return;
      if (match + 1 === this.#assignment.warmUpMatches) return loop.stop();
      match += 1;
      left = this.#warmUpOf(match);
    };
    const loop = new ClosedLoop((caller) => this.#shop.buy(wishFor(matches[match]!), caller), onDone);
    const { done } = await loop.run(address.callers, seconds);
    tell({ say: 'warm', bought: bought + done });
  }

  /** Not all of a match, and a second process may warm up on the same one: asking for what is gone warms nothing. */
  #warmUpOf(match: number): number {
    const { matches, processes } = this.#assignment;
    return (0.9 * matches[match]!.quota) / processes;
  }

  async buy(seconds: number): Promise<void> {
    const { matches, address, warmUpMatches } = this.#assignment;
    this.goOnWith(warmUpMatches);
    let unreported = 0;
    const report = (): void => {
      unreported += 1;
      if (unreported < REPORT_EVERY) return;
      tell({ say: 'progress', bought: unreported });
      unreported = 0;
    };
    this.#loop = new ClosedLoop((caller) => this.#shop.buy(wishFor(matches[this.#match]!), caller), report);
    const before = await this.#shop.retries();
    const result = await this.#loop.run(address.callers, seconds);
    tell({ say: 'done', result: { ...result, retries: (await this.#shop.retries()) - before } });
  }

  goOnWith(match: number): void {
    if (match < this.#assignment.matches.length) this.#match = match;
    else this.#loop?.stop();
  }

  async close(): Promise<void> {
    await this.#shop.close();
    tell({ say: 'closed' });
    process.disconnect();
  }
}

let worker: Worker | undefined;

async function follow(order: ToWorker): Promise<void> {
  if (order.say === 'open') {
    worker = await Worker.open(order.assignment);
    return tell({ say: 'open' });
  }
  if (!worker) throw new Error('The shop is not open.');
  if (order.say === 'warm up') return worker.warmUp(order.seconds);
  if (order.say === 'buy') return worker.buy(order.seconds);
  if (order.say === 'match') return worker.goOnWith(order.index);
  return worker.close();
}

function fail(error: unknown): void {
  tell({ say: 'failed', reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}

process.on('message', (order: ToWorker) => void follow(order).catch(fail));
process.on('unhandledRejection', fail);
// Whoever leads us is gone, or done with us; nothing of ours is worth keeping.
process.on('disconnect', () => process.exit());
