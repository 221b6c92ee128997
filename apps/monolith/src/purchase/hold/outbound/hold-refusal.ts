import { assertHoldsAllowed, type SaleStatus } from '#domain/catalog/sale';
import { assertWindowOpen, type KnownWindow } from '#domain/purchase/purchase-window';
import { assertWithinLimit } from '#domain/purchase/ticket-limit';
import { wantedSeats, type HoldRequest } from '../application/ports.ts';
import type { HoldFacts } from './why-not-held.ts';

/** The statement has decided; the rules of the domain say in their words why it said no. Sale, window, limit, in this order. */
export function assertRules(wish: HoldRequest, facts: HoldFacts, taken: number): void {
  const { queueRequired } = facts;
  const opensAt = facts.opensAtMs === null ? null : new Date(facts.opensAtMs);
  assertHoldsAllowed({ saleStatus: facts.saleStatus as SaleStatus, opensAt, queueRequired });
  if (queueRequired) assertWindowOpen(windowOf(facts), wish);
  assertWithinLimit({ limit: facts.limit, taken, wanted: wantedSeats(wish) });
}

function windowOf({ windowUser, windowMatch, windowOver, windowEnd }: HoldFacts): KnownWindow | undefined {
  return windowUser && windowMatch
    ? { userId: windowUser, matchId: windowMatch, isOver: windowOver, endReason: windowEnd }
    : undefined;
}

/** After a broken connection it is only known that the reservation is not there: that breaks no rule, and asks again. */
export const nothingKnown: HoldFacts = {
  saleStatus: 'open',
  opensAtMs: null,
  queueRequired: false,
  limit: Number.POSITIVE_INFINITY,
  windowUser: null,
  windowMatch: null,
  windowOver: false,
  windowEnd: null,
  fanBusy: false,
  gone: [],
  busy: [],
  moved: [],
};
