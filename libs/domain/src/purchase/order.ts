import { DomainError } from '../shared/domain-error.ts';

/*
 * The status of an order.
 *
 *   awaiting_payment ──paid, has seats──▶ completed ──last ticket refunded──▶ refunded
 *          │ ──released──▶ cancelled                                              ▲
 *          └──hold ended──▶ expired ──paid late: seats still free ▶ completed, else ┘
 */
export type OrderStatus = 'awaiting_payment' | 'completed' | 'cancelled' | 'refunded' | 'expired';

/** An order number such as "ORD-2026-001234": the year of the order's creation and a sequence number that is never used twice. */
export function orderNumber(year: number, sequence: number): string {
  return `ORD-${year}-${String(sequence).padStart(6, '0')}`;
}

/** True if there is exactly one holder for each reserved seat, and none for any other seat. */
export function holdersMatch(seatIds: readonly string[], holderSeatIds: readonly string[]): boolean {
  const named = new Set(holderSeatIds);
  return named.size === holderSeatIds.length && named.size === seatIds.length && seatIds.every((seatId) => named.has(seatId));
}

/** Throws unless there is exactly one holder for each reserved seat. */
export function assertHoldersMatch(seatIds: readonly string[], holderSeatIds: readonly string[]): void {
  if (holdersMatch(seatIds, holderSeatIds)) return;
  throw new DomainError('VALIDATION_FAILED', 'Name one holder for each reserved seat, and for no other.', {
    errors: [{ path: 'holders', message: 'must name exactly the reserved seats' }],
  });
}

/**
 * What a captured payment does to its order. `hasSeats`: the order still has its seats, or could take them again after its hold had
 * ended.
 */
export function paymentOutcome(order: {
  status: OrderStatus;
  paidExactly: boolean;
  hasSeats: boolean;
}): 'complete' | 'refund' | 'nothing' {
  if (order.status === 'completed' || order.status === 'refunded') return 'nothing';
  return order.paidExactly && order.hasSeats ? 'complete' : 'refund';
}
