/** How large a history is. `ordersOfMatch` is a multiple of 20: every sector has the same number of pairs of orders. */
export interface HistorySize {
  readonly matches: number;
  readonly ordersOfMatch: number;
  /** The sales lie within so many days. The last match was two days ago. */
  readonly days: number;
}

/** Fills a table: its name, and a SELECT whose columns have the names of those of the table. */
export type Filling = readonly [table: string, select: string];
