import type { OrderStatus } from '#domain/purchase/order';
import type { Order, Reservation } from '../../application/ports.ts';

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

/** What operators look for among all orders; everything given must fit. */
export interface OrderSearch {
  readonly matchId?: string;
  readonly userId?: string;
  readonly status?: OrderStatus;
  /** The order's number, the number of its payment, or the whole address it was bought with. */
  readonly text?: string;
  readonly before?: string;
  readonly limit: number;
}

/** What people look at: orders as they stand, outside of any decision. */
export abstract class PurchaseReader {
  /** With its owner only: another fan's order does not exist. */
  abstract order(orderId: string, userId: string): Promise<OrderDetails | undefined>;
  abstract orders(userId: string, before: string | undefined, limit: number): Promise<OrderDetails[]>;
  /** Of all fans, newest first. */
  abstract search(wanted: OrderSearch): Promise<OrderDetails[]>;
  /** The address of each fan's newest paid order of the match. */
  abstract addresses(matchId: string, userIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  abstract totals(matchId: string): Promise<MatchTotals>;
}
