import type { Transaction, TransactionManager } from '#application/transaction-manager';
import type { MovedPlaces, PlaceOwner, QuotaPlacesApi } from '../../purchase/quota-places.api.ts';
import type { EndInvitations } from '../claims/end-invitations.ts';
import type { QuotaNotices } from '../messages/quota-notices.ts';
import type { QuotaOfMatch, Quotas } from '../tree/postgres-quotas.ts';
import type { Quota } from '../tree/quota.ts';
import { withFreePlaces } from '../tree/with-free-places.ts';
import type { Moves } from './postgres-moves.ts';

/** The actor of moves that no operator has asked for. */
export const SYSTEM = 'system';

const MAX_QUOTAS_A_RUN = 100;
const MAX_REQUESTS_A_RUN = 100;

/**
 * Gives free places back at the deadlines of quotas, and ends pending moves that nobody decides. All times are those of the
 * database. Every replica may do this at the same time: a quota is locked, and its return, the move and the row of the ledger commit
 * together, so each happens once.
 */
export class ReturnPlaces {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly places: QuotaPlacesApi,
    private readonly quotas: Quotas,
    private readonly moves: Moves,
    private readonly endInvitations: EndInvitations,
    private readonly notices: Pick<QuotaNotices, 'returned'>,
  ) {}

  /**
   * Returns the free places of quotas whose `returnAt` has come. Returns the number of quotas that this call has returned. `rest` is
   * awaited after each return, so that buyers of the same match need not wait for many returns in a row.
   */
  async returnDue(rest = (): Promise<void> => Promise.resolve()): Promise<number> {
    let returned = 0;
    const dueQuotas = await this.quotas.due(MAX_QUOTAS_A_RUN);
    // Their invitations are over by now. The places of these return by the same move as the others.
    if (dueQuotas.length > 0) await this.endInvitations.expireDue();
    for (const due of dueQuotas) {
      const isDone = await this.giveBack(due, async (tx) => {
        const quota = await this.quotas.lockDue(tx, due.id);
        if (quota) await this.quotas.markReturned(tx, quota.id);
        return quota && { quota, reason: 'return of unused places', tell: true };
      });
      if (!isDone) continue;
      returned += 1;
      await rest();
    }
    return returned;
  }

  /** Moves on the places that have become free in a returned quota, for example by a refund. Returns the number of quotas. */
  async returnLateFree(): Promise<number> {
    const returned = await this.quotas.returned();
    if (returned.length === 0) return 0;
    const counts = await this.places.counts({ quotaIds: returned.map(({ id }) => id) });
    const withFree = new Set(counts.filter(({ free }) => free > 0).map(({ quotaId }) => quotaId));
    let moved = 0;
    for (const late of returned.filter(({ id }) => withFree.has(id))) {
      const isDone = await this.giveBack(late, async (tx) => {
        const quota = await this.quotas.lockReturned(tx, late.id);
        return quota && { quota, reason: 'places that became free after the return', tell: false };
      });
      if (isDone) moved += 1;
    }
    return moved;
  }

  /** Ends the pending moves that nobody has decided in time. Their places are free in their quota again. */
  async endExpiredRequests(): Promise<number> {
    if (!(await this.moves.hasExpired())) return 0;
    return this.transactions.run(async (tx) => {
      const expired = await this.moves.lockExpired(tx, MAX_REQUESTS_A_RUN);
      for (const { id } of expired) await this.moves.decide(tx, id, { status: 'expired', by: null });
      const bound = expired.map(({ id, seatIds }) => ({ boundTo: id, seatIds }));
      if (bound.length > 0) await this.places.unbind(tx, bound);
      return expired.length;
    });
  }

  /**
   * Moves all free places of a quota where its `onReturn` says, if `lock` returns the quota, and tells its contact with `tell`. Returns
   * whether it did.
   */
  private async giveBack(
    { id, matchId }: QuotaOfMatch,
    lock: (tx: Transaction) => Promise<{ quota: Quota; reason: string; tell: boolean } | undefined>,
  ): Promise<boolean> {
    let moved: MovedPlaces | undefined;
    const isDone = await withFreePlaces(
      () => this.places.free({ matchId, quotaId: id }),
      (free) =>
        this.transactions.run(async (tx) => {
          moved = undefined;
          const locked = await lock(tx);
          if (!locked) return false;
          const { quota, reason, tell } = locked;
          const seatIds = free.map(({ seatId }) => seatId);
          if (tell) await this.notices.returned(tx, quota, seatIds.length);
          if (seatIds.length === 0 || quota.onReturn === 'keep') return true;
          const to: PlaceOwner = quota.onReturn === 'parent' ? quota.parentId : null;
          moved = await this.places.move(tx, { matchId, from: id, to, seatIds });
          const row = { matchId, kind: 'return' as const, actor: SYSTEM, approvedBy: null };
          await this.moves.add(tx, { ...row, from: id, to, reason, seatIds });
          return true;
        }),
    );
    if (moved) this.places.announce([moved]);
    return isDone;
  }
}
