import { recordChange } from '#application/recorded-change';
import type { Transaction, TransactionManager } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import type { QuotaPlacesApi } from '../../purchase/quota-places.api.ts';
import type { Invitations } from '../invitations/postgres-invitations.ts';
import { unknownInvitation } from './claim-invitation.ts';
import type { EndingInvitation } from './claimable-invitation.ts';
import type { Claims } from './postgres-claims.ts';

/** Invitations that one transaction ends, so that it takes some milliseconds. */
const PAGE = 100;

/**
 * Ends invitations: withdrawn by their partner, expired, or of a cancelled match. Their places are free in their quota then. An
 * invitation whose places are paid ends as `claimed` and keeps them.
 *
 * The invitation is locked first, then its reservation, then its places. A claim locks in the same order, so a claim and an end of
 * the same invitation happen one after the other.
 */
export class EndInvitations {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly places: QuotaPlacesApi,
    private readonly invitations: Invitations,
    private readonly claims: Claims,
  ) {}

  /** Withdraws an invitation. A hold of its places ends. Nothing happens if it has ended unpaid before. */
  withdraw(id: string): Promise<void> {
    return this.transactions.run(async (tx) => {
      const invitation = await this.invitations.lock(tx, id);
      if (!invitation) throw unknownInvitation();
      const { status } = invitation;
      const { matchId } = invitation;
      recordChange(tx, { matchId, before: { status }, after: { status: status === 'open' ? 'withdrawn' : status } });
      if (status === 'expired' || status === 'withdrawn') return;
      const hasEnded = status === 'open' && (await this.end(tx, [invitation], 'withdrawn')).length > 0;
      if (!hasEnded)
        throw new DomainError('INVALID_STATE', 'The places of this invitation are paid; refund their tickets instead.');
    });
  }

  /**
   * Ends the invitations whose time is over. While a fan holds the places, the invitation waits for the end of that hold, so nobody
   * loses places during a checkout. Returns how many have ended.
   */
  async expireDue(): Promise<number> {
    let ended = 0;
    const waiting: string[] = [];
    for (;;) {
      const ids = await this.claims.due(waiting, PAGE);
      const endedIds = new Set(ids.length > 0 ? await this.transactions.run((tx) => this.expire(tx, ids)) : []);
      ended += endedIds.size;
      if (ids.length < PAGE) return ended;
      waiting.push(...ids.filter((id) => !endedIds.has(id)));
    }
  }

  /** Withdraws the invitations of cancelled matches. A hold of their places ends. Returns how many have ended. */
  async withdrawCancelled(): Promise<number> {
    const ids = await this.claims.openOfCancelledMatches(PAGE);
    if (ids.length === 0) return 0;
    return this.transactions.run(async (tx) => {
      const locked = await this.claims.lockOpen(tx, ids);
      await this.end(tx, locked, 'withdrawn');
      return locked.length;
    });
  }

  private async expire(tx: Transaction, ids: readonly string[]): Promise<readonly string[]> {
    const locked = await this.claims.lockOpen(tx, ids);
    const states = await this.statesOf(tx, locked);
    const due = locked.filter(({ isOver, reservationId }) => isOver && states.get(reservationId ?? '') !== 'held');
    await this.end(tx, due, 'expired');
    return due.map(({ id }) => id);
  }

  /** Ends locked, open invitations, and returns those that are not paid. The paid ones become `claimed`. */
  private async end(
    tx: Transaction,
    invitations: readonly EndingInvitation[],
    status: 'expired' | 'withdrawn',
  ): Promise<readonly EndingInvitation[]> {
    const states = await this.statesOf(tx, invitations);
    const isPaid = ({ reservationId }: EndingInvitation): boolean => states.get(reservationId ?? '') === 'paid';
    const unpaid = invitations.filter((invitation) => !isPaid(invitation));
    for (const { reservationId } of unpaid)
      if (reservationId && states.get(reservationId) === 'held') await this.places.endHold(tx, reservationId);
    await this.places.unbind(
      tx,
      unpaid.map(({ id, seatIds }) => ({ boundTo: id, seatIds })),
    );
    await this.claims.setEnded(
      tx,
      unpaid.map(({ id }) => id),
      status,
    );
    await this.claims.setEnded(
      tx,
      invitations.filter(isPaid).map(({ id }) => id),
      'claimed',
    );
    return unpaid;
  }

  private statesOf(tx: Transaction, invitations: readonly EndingInvitation[]): ReturnType<QuotaPlacesApi['claimStates']> {
    return this.places.claimStates(
      invitations.flatMap(({ reservationId }) => reservationId ?? []),
      tx,
    );
  }
}
