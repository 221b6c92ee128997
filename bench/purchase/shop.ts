/** One way to buy two seats of a sector as a new fan. The runs compare such ways. */
export interface Shop {
  /** Resolves to undefined when the fan has the seats, or to the code of the refusal. */
  buy(purchase: Purchase, caller: number): Promise<string | undefined>;
  /** Number of transaction retries since the start. */
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
  /** URL of the service, for buyers over HTTP. */
  readonly serviceUrl: string | undefined;
  readonly callers: number;
}
