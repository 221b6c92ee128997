import { DomainError } from '../shared/domain-error.ts';

/** All statuses of a sale; sale-changes.ts shows the changes between them. */
export const saleStatuses = ['scheduled', 'open', 'paused', 'sold_out', 'closed'] as const;
export type SaleStatus = (typeof saleStatuses)[number];

/**
 * The status of a sale at the time `now`: a scheduled sale is open from `opensAt` on, although its stored status is still
 * `scheduled`.
 */
export function statusAt(stored: SaleStatus, opensAt: Date | null, now: Date): SaleStatus {
  return stored === 'scheduled' && opensAt !== null && opensAt.getTime() <= now.getTime() ? 'open' : stored;
}

/**
 * Throws if the sale's status forbids holds. In a paused sale fans who have a turn may go on; only matches with a queue have turns.
 */
export function assertHoldsAllowed(sale: {
  readonly saleStatus: SaleStatus;
  readonly opensAt: Date | null;
  readonly queueRequired: boolean;
}): void {
  const { saleStatus, opensAt, queueRequired } = sale;
  if (saleStatus === 'open' || (saleStatus === 'paused' && queueRequired)) return;
  if (saleStatus === 'sold_out')
    throw new DomainError('SOLD_OUT', 'Every seat of this match is sold.', { available: 0, other_sectors: false });
  throw new DomainError('SALE_NOT_OPEN', 'The sale of this match is not open.', {
    sale_status: saleStatus,
    ...(saleStatus === 'scheduled' && opensAt ? { opens_at: opensAt.toISOString() } : {}),
  });
}

/** Throws if the places of an invitation cannot be claimed or paid. It works in every sale that is not closed for ever. */
export function assertInvitationsAllowed(saleStatus: SaleStatus | undefined): void {
  if (saleStatus !== undefined && saleStatus !== 'closed') return;
  throw new DomainError('SALE_NOT_OPEN', 'The sale of this match is closed.', { sale_status: saleStatus ?? 'closed' });
}
