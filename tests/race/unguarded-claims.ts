import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import { setTimeout as pause } from 'node:timers/promises';
import { CatalogApi } from '../../apps/monolith/src/catalog/catalog.api.ts';
import { QuotaPlacesApi, type Claim, type ClaimResult } from '../../apps/monolith/src/purchase/quota-places.api.ts';
import { HOLD_INVITED_PLACES } from '../../apps/monolith/src/purchase/quota-places/claim-places.sql.ts';
import { ClaimInvitation } from '../../apps/monolith/src/quota/claims/claim-invitation.ts';
import { LOCK_OPEN, READ_BY_TOKEN } from '../../apps/monolith/src/quota/claims/claims.sql.ts';
import { EndInvitations } from '../../apps/monolith/src/quota/claims/end-invitations.ts';
import type { ClaimableInvitation, LockedInvitation } from '../../apps/monolith/src/quota/claims/claimable-invitation.ts';
import { PostgresClaims } from '../../apps/monolith/src/quota/claims/postgres-claims.ts';
import { PostgresInvitations } from '../../apps/monolith/src/quota/invitations/postgres-invitations.ts';
import { hashOfToken } from '../../apps/monolith/src/quota/messages/invitation-token.ts';
import type { WholeMonolith } from '../../apps/monolith/src/testing/whole-monolith.ts';
import { newId } from '#platform/ids';
import { ReadCommittedTransactions } from './unguarded-refunds.ts';

/** Time between reading and writing, so that a concurrent transaction reads the same state. */
const PAUSE_MS = 50;

/** Reads invitations without locks. */
class UnlockedClaims extends PostgresClaims {
  override async lockByToken(tx: Transaction, token: string): Promise<ClaimableInvitation | undefined> {
    const statement = READ_BY_TOKEN.with({ tokenHash: hashOfToken(token) });
    return (await inside(tx).rows<ClaimableInvitation>({ ...statement, name: `${statement.name}-in-transaction` }))[0];
  }

  override lockOpen(tx: Transaction, ids: readonly string[]): Promise<readonly LockedInvitation[]> {
    const { name, text, values } = LOCK_OPEN.with({ ids });
    return inside(tx).rows<LockedInvitation>({
      name: `${name}-unlocked`,
      text: text.replace(' for update skip locked', ''),
      values,
    });
  }
}

/** Reads the places of an invitation without locking them, waits, and then holds them. */
async function holdWithoutLock(tx: Transaction, claim: Claim): Promise<ClaimResult> {
  const free = await inside(tx).rows(`select id from seats where id = any($1::uuid[]) and bound_to = $2 and status = 'blocked'`, [
    claim.seatIds,
    claim.invitationId,
  ]);
  await pause(PAUSE_MS);
  if (free.length < claim.seatIds.length) return { kind: 'taken' };
  const id = newId();
  const hold = {
    ...claim,
    priceCents: claim.priceCents ?? 2500,
    id,
    sector: 'East A',
    currency: 'EUR',
    together: true,
    holdSeconds: 600,
  };
  await inside(tx).rows(HOLD_INVITED_PLACES.with(hold));
  return { kind: 'held', isNew: true, reservation: { id } as never };
}

/** The negative control: claims and ends of invitations without row locks, at READ COMMITTED. */
export function unguardedClaims(monolith: WholeMonolith): { readonly claim: ClaimInvitation; readonly end: EndInvitations } {
  const transactions = new ReadCommittedTransactions(monolith.dataSource);
  const real = monolith.get(QuotaPlacesApi);
  const places = Object.create(real, { hold: { value: holdWithoutLock } }) as QuotaPlacesApi;
  const claims = new UnlockedClaims(monolith.dataSource);
  return {
    claim: new ClaimInvitation(transactions, monolith.get(CatalogApi), places, claims),
    end: new EndInvitations(transactions, places, monolith.get(PostgresInvitations), claims),
  };
}
