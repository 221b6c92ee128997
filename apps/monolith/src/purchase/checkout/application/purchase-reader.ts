import type { OrderStatus } from '#domain/purchase/order';
import type { Reservation } from '../../application/ports.ts';
import type { Order } from '../../application/sale-ports.ts';
import type { MatchReport } from '../../purchase.api.ts';

/** An order with everything that is shown of it: its seats and its timeline. */
export interface OrderDetails {
  readonly order: Order;
  readonly seats: Reservation['seats'];
  readonly timeline: readonly { at: string; event: string }[];
}

/** Totals of the orders of a match, for operators. `orders`: status → number. */
export type MatchTotals = Pick<MatchReport, 'refunded' | 'revenueCents' | 'orders'>;

/** An operator's search over all orders. An order must match every given field. */
export interface OrderSearch {
  readonly matchId?: string;
  readonly userId?: string;
  readonly status?: OrderStatus;
  /** A part of an order number, email address, holder's name or ticket id, or a payment intent id. Without a match only what an index finds. */
  readonly text?: string;
  readonly before?: string;
  readonly limit: number;
}

/** Reads orders for display, outside of any transaction. */
export abstract class PurchaseReader {
  /** One order of this fan. Undefined if it does not exist or belongs to another fan. */
  abstract order(orderId: string, userId: string): Promise<OrderDetails | undefined>;
  /** A page of the fan's orders, newest first, older than the order `before`. */
  abstract orders(userId: string, before: string | undefined, limit: number): Promise<OrderDetails[]>;
  /** Searches the orders of all fans, newest first. */
  abstract search(wanted: OrderSearch): Promise<OrderDetails[]>;
  /** User id → email address of the fan's newest completed order of the match. */
  abstract addresses(matchId: string, userIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  abstract totals(matchId: string): Promise<MatchTotals>;
}
