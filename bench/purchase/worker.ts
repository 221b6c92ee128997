// One process of buyers, controlled by bench/purchase.ts over IPC: opens its shop, warms up, and buys in a closed loop.
import 'reflect-metadata';
import { ClosedLoop, type LoopResult } from '../instruments/closed-loop.ts';
import { openHttpShop } from './http-shop.ts';
import type { Shop, ShopAddress, ShopKind } from './shop.ts';
import type { MatchToSell } from './stadiums.ts';
import { openTextbookShop } from './textbook.ts';
import { openUseCaseShop } from './use-case-shop.ts';

/** What one process of buyers has to buy, and how. */
export interface BuyerAssignment {
  readonly kind: ShopKind;
  readonly address: ShopAddress;
  readonly matches: readonly MatchToSell[];
  /** Number of matches at the start of `matches` that are for warming up. */
  readonly warmUpMatches: number;
  /** Number of processes of buyers. */
  readonly processes: number;
}

/** A message to a process of buyers. */
export type ToWorker =
  | { readonly type: 'open'; readonly assignment: BuyerAssignment }
  | { readonly type: 'warm up'; readonly seconds: number }
  | { readonly type: 'buy'; readonly seconds: number }
  /** Switch to the match with this index. An index beyond the last match ends the run. */
  | { readonly type: 'match'; readonly index: number }
  | { readonly type: 'close' };

/** What the buyers of one process measured, with their transaction retries. */
export interface BuyerResult extends LoopResult {
  readonly retries: number;
}

/** A message from a process of buyers. */
export type FromWorker =
  | { readonly type: 'open' | 'closed' }
  | { readonly type: 'warm'; readonly bought: number }
  | { readonly type: 'progress'; readonly bought: number }
  | { readonly type: 'done'; readonly result: BuyerResult }
  | { readonly type: 'failed'; readonly reason: string };

/** Reservations per progress message, because messages cost processor time. At 40,000 reservations per second, 80 messages are sent. */
const REPORT_INTERVAL = 500;

const openShop: Record<ShopKind, (address: ShopAddress) => Promise<Shop>> = {
  'use case': openUseCaseShop,
  textbook: openTextbookShop,
  'holds over HTTP': (address) => openHttpShop(address, 'held'),
  'purchases over HTTP': (address) => openHttpShop(address, 'complete in the tables'),
  'purchases as a fan': (address) => openHttpShop(address, 'complete over HTTP'),
};

const send = (message: FromWorker): void => void process.send?.(message);
const anyOf = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)]!;
const purchaseIn = ({ id, sectorIds }: MatchToSell) => ({ matchId: id, sectorId: anyOf(sectorIds) });

class Worker {
  readonly #shop: Shop;
  readonly #assignment: BuyerAssignment;
  #match = 0;
  #loop: ClosedLoop | undefined;

  private constructor(shop: Shop, assignment: BuyerAssignment) {
    this.#shop = shop;
    this.#assignment = assignment;
  }

  static async open(assignment: BuyerAssignment): Promise<Worker> {
    return new Worker(await openShop[assignment.kind](assignment.address), assignment);
  }

  /** Buys once in every sector of every match, so that everything is loaded and cached, and then in the matches for warming up. */
  async warmUp(seconds: number): Promise<void> {
    const { matches, address } = this.#assignment;
    const firstPurchases = matches.flatMap(({ id, sectorIds }) => sectorIds.map((sectorId) => ({ matchId: id, sectorId })));
    let bought = 0;
    const buyFirst = async (caller: number): Promise<void> => {
      for (let purchase = firstPurchases.pop(); purchase; purchase = firstPurchases.pop()) {
        if ((await this.#shop.buy(purchase, caller)) === undefined) bought += 1;
      }
    };
    await Promise.all(Array.from({ length: address.callers }, (_, caller) => buyFirst(caller)));
    let [match, remaining] = [0, this.#warmUpQuota(0)];
    const onDone = (): void => {
      remaining -= 1;
      if (remaining > 0) return;
      if (match + 1 === this.#assignment.warmUpMatches) return loop.stop();
      match += 1;
      remaining = this.#warmUpQuota(match);
    };
    const loop = new ClosedLoop((caller) => this.#shop.buy(purchaseIn(matches[match]!), caller), onDone);
    const { done } = await loop.run(address.callers, seconds);
    send({ type: 'warm', bought: bought + done });
  }

  /**
   * How many reservations this process makes in a match while warming up: its part of 90 % of the match's quota. Requests for sold seats
   * would warm up nothing.
   */
  #warmUpQuota(match: number): number {
    const { matches, processes } = this.#assignment;
    return (0.9 * matches[match]!.quota) / processes;
  }

  async buy(seconds: number): Promise<void> {
    const { matches, address, warmUpMatches } = this.#assignment;
    this.switchToMatch(warmUpMatches);
    let unreported = 0;
    const report = (): void => {
      unreported += 1;
      if (unreported < REPORT_INTERVAL) return;
      send({ type: 'progress', bought: unreported });
      unreported = 0;
    };
    this.#loop = new ClosedLoop((caller) => this.#shop.buy(purchaseIn(matches[this.#match]!), caller), report);
    const before = await this.#shop.retries();
    const result = await this.#loop.run(address.callers, seconds);
    send({ type: 'done', result: { ...result, retries: (await this.#shop.retries()) - before } });
  }

  switchToMatch(match: number): void {
    if (match < this.#assignment.matches.length) this.#match = match;
    else this.#loop?.stop();
  }

  async close(): Promise<void> {
    await this.#shop.close();
    send({ type: 'closed' });
    process.disconnect();
  }
}

let worker: Worker | undefined;

async function handle(order: ToWorker): Promise<void> {
  if (order.type === 'open') {
    worker = await Worker.open(order.assignment);
    return send({ type: 'open' });
  }
  if (!worker) throw new Error('The shop is not open.');
  if (order.type === 'warm up') return worker.warmUp(order.seconds);
  if (order.type === 'buy') return worker.buy(order.seconds);
  if (order.type === 'match') return worker.switchToMatch(order.index);
  return worker.close();
}

function fail(error: unknown): void {
  send({ type: 'failed', reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}

process.on('message', (order: ToWorker) => void handle(order).catch(fail));
process.on('unhandledRejection', fail);
// `disconnect` means that the controlling process has exited or finished. Exit at once: there is nothing to save.
process.on('disconnect', () => process.exit());
