import type { MemoryMatches } from '../../apps/monolith/src/purchase/testing/memory-catalog.ts';
import { MemoryInvitedPlaces } from '../../apps/monolith/src/purchase/testing/memory-invited-places.ts';
import type { MemoryOrderConsequences } from '../../apps/monolith/src/purchase/testing/memory-payments.ts';
import type { MemoryOrders } from '../../apps/monolith/src/purchase/testing/memory-orders.ts';
import { MemoryQuotaPlaces } from '../../apps/monolith/src/purchase/testing/memory-quota-places.ts';
import type { MemoryReservations } from '../../apps/monolith/src/purchase/testing/memory-reservations.ts';
import { tables } from '../../apps/monolith/src/purchase/testing/memory-tables.ts';
import { ClaimPlaces } from '../../apps/monolith/src/purchase/quota-places/claim-places.ts';
import type { CatalogApi } from '../../apps/monolith/src/catalog/catalog.api.ts';
import { ClaimInvitation } from '../../apps/monolith/src/quota/claims/claim-invitation.ts';
import { EndInvitations } from '../../apps/monolith/src/quota/claims/end-invitations.ts';
import { IssueInvitations } from '../../apps/monolith/src/quota/invitations/issue-invitations.ts';
import { ListPlans } from '../../apps/monolith/src/quota/invitations/list-plans.ts';
import { DecideMove } from '../../apps/monolith/src/quota/moves/decide-move.ts';
import { MovePlaces } from '../../apps/monolith/src/quota/moves/move-places.ts';
import { ReturnPlaces } from '../../apps/monolith/src/quota/moves/return-places.ts';
import { MemoryClaims, MemoryInvitations } from '../../apps/monolith/src/quota/testing/memory-invitations.ts';
import { MemoryMoves } from '../../apps/monolith/src/quota/testing/memory-moves.ts';
import { MemoryQuotas } from '../../apps/monolith/src/quota/testing/memory-quotas.ts';
import { CreateQuota } from '../../apps/monolith/src/quota/tree/create-quota.ts';
import type { SimulatedDatabase } from '#testing/simulation/simulated-database';
import { inside, type SimulatedTransactions } from '#testing/simulation/simulated-transactions';

/** The protections of quotas. A negative control switches one off, and the simulation must then find a fault. */
export interface QuotaProtections {
  /** A move takes only places that are free. */
  readonly movesOnlyFree: boolean;
  /** A place that is bound already is not bound again. */
  readonly bindsOnlyUnbound: boolean;
  /** The row of the ledger commits together with its move. */
  readonly ledgerInTransaction: boolean;
  /** Moves, lists and returns lock quotas. */
  readonly locksQuotas: boolean;
  /** The end of an invitation sees that a fan holds its places. */
  readonly endsSeeHolds: boolean;
  /** A place of a quota whose hold ends goes back to its quota, not to the public. */
  readonly freesInQuota: boolean;
  /** A payment after the end of its claim gets only places that are still bound to the invitation. */
  readonly latePaymentSeesBinding: boolean;
}

/** Every protection is on, as in production. */
export const ALL_QUOTA_PROTECTIONS: QuotaProtections = {
  movesOnlyFree: true,
  bindsOnlyUnbound: true,
  ledgerInTransaction: true,
  locksQuotas: true,
  endsSeeHolds: true,
  freesInQuota: true,
  latePaymentSeesBinding: true,
};

interface Parts {
  readonly db: SimulatedDatabase;
  readonly transactions: SimulatedTransactions;
  readonly matches: MemoryMatches;
  readonly reservations: MemoryReservations;
  readonly orders: MemoryOrders;
  readonly consequences: MemoryOrderConsequences;
  readonly holdMs: number;
  readonly protections: QuotaProtections;
}

/** The token of an invitation. In production it is random. */
export const tokenOf = (invitationId: string): string => `inv_${invitationId}`;

/** The use cases of quotas in one simulated process. */
export function quotaUseCases({ db, transactions, matches, reservations, orders, consequences, holdMs, protections }: Parts) {
  const ids = { next: () => db.scheduler.newId('r') };
  const invitedPlaces = new MemoryInvitedPlaces(db, holdMs);
  const claimPlaces = new ClaimPlaces(invitedPlaces, reservations, orders, consequences, matches, ids);
  const places = new MemoryQuotaPlaces(db, claimPlaces, protections);
  const catalog = catalogOf(db, matches);
  const quotas = new MemoryQuotas(db, protections.locksQuotas);
  const moves = new MemoryMoves(db, protections.ledgerInTransaction);
  const invitations = new MemoryInvitations(db);
  const claims = new MemoryClaims(db);
  const clock = { now: () => db.scheduler.now() };
  const endInvitations = new EndInvitations(transactions, places, invitations, claims);
  // No mail is simulated: an invitation gets its token, and no quota has a contact.
  const sendInvitations: ConstructorParameters<typeof IssueInvitations>[5] = {
    execute: (tx, { invitations: sent }) => invitations.addTokens(tx, new Map(sent.map(({ id }) => [id, tokenOf(id)]))),
  };
  const plans = new ListPlans(catalog, places, quotas, invitations, clock);
  const noNotices = { returned: () => Promise.resolve() };
  const returnPlaces = new ReturnPlaces(transactions, places, quotas, moves, endInvitations, noNotices);
  return {
    createQuota: new CreateQuota(transactions, catalog, places, quotas, moves, clock),
    movePlaces: new MovePlaces(transactions, catalog, places, quotas, moves),
    decideMove: new DecideMove(transactions, places, quotas, moves),
    issueInvitations: new IssueInvitations(transactions, plans, places, quotas, invitations, sendInvitations),
    claimInvitation: new ClaimInvitation(transactions, catalog, places, claims),
    endInvitations,
    /** Like a run of the task `quota deadlines`. */
    keepDeadlines: async (): Promise<void> => {
      await endInvitations.withdrawCancelled();
      await endInvitations.expireDue();
      await returnPlaces.endExpiredRequests();
      await returnPlaces.returnDue();
      await returnPlaces.returnLateFree();
    },
    /** Quotas for which this process issues a list now. */
    issuing: new Set<string>(),
  };
}

/** The matches and sectors of the simulation, for quotas. Most fields of a match are read by nobody. */
function catalogOf(db: SimulatedDatabase, matches: MemoryMatches): Pick<CatalogApi, 'match' | 'sectors' | 'sector'> {
  const unread = {
    home: '',
    away: '',
    processingRate: 0,
    maxOpenWindows: 0,
    pauseReason: null,
    cancelReason: null,
    transfers: 'allowed',
  } as const;
  return {
    match: async (matchId, tx) => {
      const match = await matches.match(matchId, tx);
      const row = tx ? inside(tx).get(tables.matches, matchId) : db.read(tables.matches, matchId);
      return match && { ...unread, ...match, cancelledAt: row?.cancelledAt ?? null };
    },
    sectors: (matchId) => matches.sectors(matchId),
    sector: (sectorId) => matches.sector(sectorId),
  };
}
