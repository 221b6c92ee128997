import type { Order, Reservation } from './ports.ts';

export interface OrderDetails {
  readonly order: Order;
  readonly seats: Reservation['seats'];
  readonly timeline: readonly { at: string; event: string }[];
}

export interface MatchTotals {
  readonly revenueCents: number;
  readonly refundedSeats: number;
  readonly orders: Readonly<Record<string, number>>;
}

/** What people look at: orders as they stand, outside of any decision. */
export abstract class PurchaseReader {
  /** With its owner only: another fan's order does not exist. */
  abstract order(orderId: string, userId: string): Promise<OrderDetails | undefined>;
  abstract orders(userId: string, before: string | undefined, limit: number): Promise<OrderDetails[]>;
  abstract totals(matchId: string): Promise<MatchTotals>;
}
