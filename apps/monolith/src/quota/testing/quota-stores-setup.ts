import { PostgresPurchase } from '../../purchase/testing/postgres-purchase.ts';
import type { PurchaseSetup } from '../../purchase/testing/purchase-setup.ts';
import { SimulatedPurchase } from '../../purchase/testing/simulated-purchase.ts';
import { PostgresClaims, type Claims } from '../claims/postgres-claims.ts';
import { PostgresInvitations, type Invitations } from '../invitations/postgres-invitations.ts';
import { PostgresMoves, type Moves } from '../moves/postgres-moves.ts';
import { PostgresQuotas, type Quotas } from '../tree/postgres-quotas.ts';
import { MemoryClaims, MemoryInvitations } from './memory-invitations.ts';
import { MemoryMoves } from './memory-moves.ts';
import { MemoryQuotas } from './memory-quotas.ts';

/** The stores of `quota` with one set of adapters, beside the ports of `purchase` on the same database. */
export interface QuotaStores {
  readonly purchase: PurchaseSetup;
  readonly quotas: Quotas;
  readonly moves: Moves;
  readonly invitations: Invitations;
  readonly claims: Claims;
}

/** The fakes on one simulated database. Each test needs a new one. */
export function simulatedQuotaStores(): QuotaStores {
  const purchase = new SimulatedPurchase();
  const { db } = purchase;
  return {
    purchase,
    quotas: new MemoryQuotas(db),
    moves: new MemoryMoves(db),
    invitations: new MemoryInvitations(db),
    claims: new MemoryClaims(db),
  };
}

/** The adapters as the monolith wires them. */
export function postgresQuotaStores(purchase: PostgresPurchase): QuotaStores {
  const { monolith } = purchase;
  return {
    purchase,
    quotas: monolith.get(PostgresQuotas),
    moves: monolith.get(PostgresMoves),
    invitations: monolith.get(PostgresInvitations),
    claims: monolith.get(PostgresClaims),
  };
}
