/** One way to buy two seats of a sector as a new fan, such as over HTTP. The benchmark compares several ways. */
export interface Shop {
  /** Resolves to undefined when the fan has the seats, or to the code of the refusal. */
  buy(purchase: Purchase, caller: number): Promise<string | undefined>;
  /** Number of transaction retries since the shop was opened, warm-up included. */
  retries(): Promise<number>;
  close(): Promise<void>;
}

/** The match and the sector in which a buyer buys. */
export interface Purchase {
  readonly matchId: string;
  readonly sectorId: string;
}

/** Seats per purchase. */
export const QUANTITY = 2;

/**
 * The ways to buy that are compared. `textbook` is the usual implementation, see textbook.ts. In `purchases over HTTP` a query of the
 * tables says when an order is complete; in `purchases as a fan` the buyer asks the service for it.
 */
export const shopKinds = ['use case', 'textbook', 'holds over HTTP', 'purchases over HTTP', 'purchases as a fan'] as const;
/** The name of one way to buy. */
export type ShopKind = (typeof shopKinds)[number];

/** The servers that a shop connects to, and its number of concurrent callers. */
export interface ShopAddress {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** URL of the service, for buyers over HTTP. */
  readonly serviceUrl: string | undefined;
  readonly callers: number;
}
