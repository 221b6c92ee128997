import type { QuotaMove } from '#contracts/quotas';
import type { PlaceOwner } from '../../purchase/quota-places.api.ts';
import type { LedgerRow, MoveRequest } from './postgres-moves.ts';

const ownerName = (owner: PlaceOwner): string => owner ?? 'public';

/** A row of the ledger as the API shows it. */
export function moveView({ at, approvedBy, from, to, ...row }: LedgerRow): QuotaMove {
  return {
    id: row.id,
    at: at.toISOString(),
    kind: row.kind,
    status: 'done',
    actor: row.actor,
    approved_by: approvedBy,
    from: ownerName(from),
    to: ownerName(to),
    quantity: row.quantity,
    reason: row.reason,
    rule: row.rule,
    expires_at: null,
  };
}

/** A request that has moved nothing: it waits for a second operator, or it was rejected or has expired. */
export function requestView(request: MoveRequest): QuotaMove {
  const { status } = request;
  return {
    id: request.id,
    at: request.at.toISOString(),
    kind: 'move',
    status: status === 'approved' ? 'done' : status,
    actor: request.actor,
    approved_by: null,
    from: request.from,
    to: request.to,
    quantity: request.seatIds.length,
    reason: request.reason,
    rule: request.rule,
    expires_at: status === 'pending' ? request.expiresAt.toISOString() : null,
  };
}
