import { DomainError } from '../shared/domain-error.ts';
import { saleStatuses, type SaleStatus } from './sale.ts';

/*
 * The status of a match's sale. Operators change it, with three exceptions: a scheduled sale opens by itself at `opensAt`; an open
 * sale becomes sold out when no seat is free or held; a sold-out sale opens again when seats come back. Only an operator ends a
 * pause. If no seats are left then, the resumed sale becomes sold out within a second.
 *
 *   scheduled ──open──▶ open ◀──resume── paused
 *        ▲               │ ──pause──────▶  ▲
 *        │               ▼                 │ (a paused sale may be closed too)
 *      closed ◀──close── any        sold_out: nothing free and nothing held
 *        └──open──▶ open            the sale of a cancelled match stays closed
 */

/** What an operator can do with a sale. */
export const saleActions = ['open', 'pause', 'resume', 'close'] as const;
export type SaleAction = (typeof saleActions)[number];

const transitions: Record<SaleAction, { readonly from: readonly SaleStatus[]; readonly to: SaleStatus }> = {
  open: { from: ['scheduled', 'closed'], to: 'open' },
  pause: { from: ['open'], to: 'paused' },
  resume: { from: ['paused'], to: 'open' },
  close: { from: saleStatuses, to: 'closed' },
};

/**
 * The status of a sale after an operator's action. A repeated action changes nothing. An action that the drawing at the top
 * of this file does not show is refused.
 */
export function saleStatusAfterAction(status: SaleStatus, action: SaleAction): SaleStatus {
  const { from, to } = transitions[action];
  if (status !== to && !from.includes(status)) {
    throw new DomainError('INVALID_STATE', `A sale that is ${status} cannot ${action}.`, { sale_status: status });
  }
  return to;
}

/** Refuses every status except `closed` for a cancelled match. */
export function assertSaleStatusAllowed(status: SaleStatus, match: { readonly cancelledAt: Date | null }): void {
  if (match.cancelledAt === null || status === 'closed') return;
  throw new DomainError('INVALID_STATE', 'This match was cancelled and is no longer for sale.', {
    sale_status: 'closed',
    cancelled_at: match.cancelledAt.toISOString(),
  });
}

/**
 * The status of a sale after seats were sold or came back. `anythingLeft`: at least one seat is free, or held and may become free.
 */
export function saleStatusAfterSeats(status: SaleStatus, anythingLeft: boolean): SaleStatus {
  if (status === 'open' && !anythingLeft) return 'sold_out';
  return status === 'sold_out' && anythingLeft ? 'open' : status;
}
