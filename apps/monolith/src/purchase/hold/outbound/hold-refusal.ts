import { assertHoldsAllowed, type SaleStatus } from '#domain/catalog/sale';
import { assertWindowOpen, assertWithinLimit } from '#domain/purchase/buying-rules';
import { requestedSeats, type HoldRequest } from '../application/ports.ts';
import type { HoldFacts } from './why-not-held.sql.ts';

/**
 * Throws the error of the first rule that a request broke: sale, then turn, then ticket limit. The statement HOLD_BATCH has already
 * decided not to hold; the domain's rules give the reason.
 */
export function assertRules(request: HoldRequest, facts: HoldFacts, taken: number): void {
  const { queueRequired } = facts;
  const opensAt = facts.opensAtMs === null ? null : new Date(facts.opensAtMs);
  assertHoldsAllowed({ saleStatus: facts.saleStatus as SaleStatus, opensAt, queueRequired });
  if (queueRequired) assertWindowOpen(facts.window ?? undefined, request);
  assertWithinLimit({ limit: facts.limit, taken, wanted: requestedSeats(request) });
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
