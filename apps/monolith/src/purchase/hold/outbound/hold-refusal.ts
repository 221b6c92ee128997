import { assertHoldsAllowed, type SaleStatus } from '#domain/catalog/sale';
import { assertNoCooldown } from '#domain/purchase/hold-cooldown';
import { assertWindowOpen, assertWithinLimit } from '#domain/purchase/buying-rules';
import { requestedSeats } from '../application/ports.ts';
import type { PendingHold } from './pending-holds.ts';
import type { HoldFacts } from './why-not-held.sql.ts';

/**
 * Throws the error of the first rule that a request broke: sale, then turn, then cooldown, then ticket limit. The statement
 * HOLD_BATCH has already decided not to hold; the domain's rules give the reason.
 */
export function assertRules({ request, fan, unpaid }: Pick<PendingHold, 'request' | 'fan' | 'unpaid'>, facts: HoldFacts): void {
  const { queueRequired } = facts;
  const opensAt = facts.opensAtMs === null ? null : new Date(facts.opensAtMs);
  assertHoldsAllowed({ saleStatus: facts.saleStatus as SaleStatus, opensAt, queueRequired });
  if (queueRequired) assertWindowOpen(facts.window ?? undefined, request);
  assertNoCooldown(unpaid.cooldownEndsAtMs, fan.asOfMs);
  assertWithinLimit({ limit: facts.limit, taken: fan.taken, wanted: requestedSeats(request) });
}

/**
 * Used when the facts about a request that was not held (sale, turn, limit, its seats) could not be read. With these values no rule
 * is broken, so the request, which has no reservation, is tried again.
 */
export const UNKNOWN_FACTS: HoldFacts = {
  saleStatus: 'open',
  opensAtMs: null,
  queueRequired: false,
  limit: Number.POSITIVE_INFINITY,
  window: null,
  fanBusy: false,
  gone: [],
  busy: [],
  moved: [],
};
