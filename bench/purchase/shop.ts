/** One way to buy two seats of a sector, for a fan nobody has seen before: what the runs compare. */
export interface Shop {
  /** Resolves when the seats are the fan's; with the code of the refusal when they are not. */
  buy(wish: Purchase, caller: number): Promise<string | undefined>;
  /** Transactions that had to run again, since the beginning. */
  retries(): Promise<number>;
  close(): Promise<void>;
}

export interface Purchase {
  readonly matchId: string;
  readonly sectorId: string;
}

export const QUANTITY = 2;

export const shopKinds = ['use case', 'textbook', 'holds over HTTP', 'purchases over HTTP'] as const;
export type ShopKind = (typeof shopKinds)[number];

export interface ShopAddress {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** Of the service, for those who buy over HTTP. */
  readonly serviceUrl: string | undefined;
  readonly callers: number;
}
