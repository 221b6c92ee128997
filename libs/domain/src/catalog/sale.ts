import { DomainError } from '../shared/domain-error.ts';

/*
 * A match's sale. Only operators move it, except that a scheduled one opens by itself at `opensAt`, an open one is sold out when
 * nothing is free and nothing held, and a sold-out one opens again when seats come back. A paused sale stays paused, whatever
 * is left: only operators end a pause, and once resumed it is sold out within a second.
 *
 *   scheduled ──open──▶ open ◀──resume── paused
 *        ▲               │ ──pause──────▶  ▲
 *        │               ▼                 │ (a paused sale may be closed too)
 *      closed ◀──close── any        sold_out: nothing free and nothing held
 *        └──open──▶ open            a cancelled match is closed for ever
 */
export const saleStatuses = ['scheduled', 'open', 'paused', 'sold_out', 'closed'] as const;
export type SaleStatus = (typeof saleStatuses)[number];

export const saleActions = ['open', 'pause', 'resume', 'close'] as const;
export type SaleAction = (typeof saleActions)[number];

const moves: Record<SaleAction, { readonly from: readonly SaleStatus[]; readonly to: SaleStatus }> = {
  open: { from: ['scheduled', 'closed'], to: 'open' },
  pause: { from: ['open'], to: 'paused' },
  resume: { from: ['paused'], to: 'open' },
  close: { from: saleStatuses, to: 'closed' },
};

/** The state an operator's action leads to. The same again is fine; anything else that does not fit is refused. */
export function afterAction(status: SaleStatus, action: SaleAction): SaleStatus {
  const { from, to } = moves[action];
  if (status !== to && !from.includes(status)) {
    throw new DomainError('INVALID_STATE', `A sale that is ${status} cannot ${action}.`, { sale_status: status });
  }
  return to;
}

/** A match that will not be played is not sold: its sale stays closed, whoever asks for it again. */
export function assertMayBe(status: SaleStatus, match: { readonly cancelledAt: Date | null }): void {
  if (match.cancelledAt === null || status === 'closed') return;
  throw new DomainError('INVALID_STATE', 'This match was cancelled: it is not sold any more.', {
    sale_status: 'closed',
    cancelled_at: match.cancelledAt.toISOString(),
  });
}

/** The state the seats lead to by themselves; `anythingLeft`: a seat is free, or held and may come back. */
export function afterSeats(status: SaleStatus, anythingLeft: boolean): SaleStatus {
  if (status === 'open' && !anythingLeft) return 'sold_out';
  return status === 'sold_out' && anythingLeft ? 'open' : status;
}

/** What the sale is at this moment: nobody has to be awake when a scheduled one opens. */
export function statusAt(stored: SaleStatus, opensAt: Date | null, now: Date): SaleStatus {
  return stored === 'scheduled' && opensAt !== null && opensAt.getTime() <= now.getTime() ? 'open' : stored;
}

interface Sale {
  readonly saleStatus: SaleStatus;
  readonly opensAt: Date | null;
  readonly queueRequired: boolean;
}

/** May somebody take seats now? A paused sale goes on for those who are already in, and only a queue has such. */
export function assertHoldsAllowed(sale: Sale): void {
  const { saleStatus, opensAt, queueRequired } = sale;
  if (saleStatus === 'open' || (saleStatus === 'paused' && queueRequired)) return;
  if (saleStatus === 'sold_out')
    throw new DomainError('SOLD_OUT', 'Every seat of this match is sold.', { available: 0, other_sectors: false });
  throw new DomainError('SALE_NOT_OPEN', 'The sale of this match is not open.', {
    sale_status: saleStatus,
    ...(saleStatus === 'scheduled' && opensAt ? { opens_at: opensAt.toISOString() } : {}),
  });
}
