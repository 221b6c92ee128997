import { quantile } from '../instruments/quantiles.ts';
import { ClosedLoop } from '../instruments/closed-loop.ts';
import { openHttpShop } from '../purchase/http-shop.ts';
import type { Shop } from '../purchase/shop.ts';
import type { MatchToSell } from '../purchase/stadiums.ts';
import type { QuotaSetup } from './setup.ts';

const CALLERS = 64;
/** A sale never lasts so long: it is stopped. */
const MAX_SECONDS = 60;

/** The holds of the public while something else happened to the same match. */
export interface SaleResult<T> {
  readonly result: T;
  /** 99 % of the holds that were under way between `from` and `to` were answered within this time. */
  readonly p99Ms: (from?: number, to?: number) => number;
  readonly perSecond: number;
  readonly refusals: Readonly<Record<string, number>>;
}

/** 64 buyers over HTTP, who hold two places of a random sector each time, as new fans, one request after the other. */
export class RunningSale {
  readonly #shop: Shop;

  private constructor(shop: Shop) {
    this.#shop = shop;
  }

  static async open({ servers, databaseUrl, service }: QuotaSetup): Promise<RunningSale> {
    const address = { databaseUrl, redisUrl: servers.redisUrl, serviceUrl: service.url, callers: CALLERS };
    return new RunningSale(await openHttpShop(address, 'held'));
  }

  /** Sells places of these sectors of the match until `work` is done. */
  async during<T>(
    { id: matchId, sectorIds }: Pick<MatchToSell, 'id' | 'sectorIds'>,
    work: () => Promise<T>,
  ): Promise<SaleResult<T>> {
    const holds: { from: number; to: number }[] = [];
    const loop = new ClosedLoop(async (caller) => {
      const sectorId = sectorIds[Math.floor(Math.random() * sectorIds.length)] ?? '';
      const from = Date.now();
      const started = performance.now();
      const refusal = await this.#shop.buy({ matchId, sectorId }, caller);
      if (refusal === undefined) holds.push({ from, to: from + (performance.now() - started) });
      return refusal;
    });
    const selling = loop.run(CALLERS, MAX_SECONDS);
    const startedAt = performance.now();
    const result = await work().finally(() => loop.stop());
    const seconds = (performance.now() - startedAt) / 1000;
    const { doneInTime, refusals } = await selling;
    const p99Ms = (from = 0, to = Infinity): number => {
      const underWay = holds.filter((hold) => hold.to >= from && hold.from <= to).map((hold) => hold.to - hold.from);
      return quantile(
        underWay.toSorted((a, b) => a - b),
        0.99,
      );
    };
    return { result, p99Ms, perSecond: doneInTime / seconds, refusals };
  }

  close(): Promise<void> {
    return this.#shop.close();
  }
}
