import { recordChange } from '#application/recorded-change';
import type { Transaction, TransactionManager } from '#application/transaction-manager';
import type { QuotaMove } from '#contracts/quotas';
import { DomainError } from '#domain/shared/domain-error';
import { RequestRefused } from '#platform/http/request-refused';
import type { MovedPlaces, QuotaPlacesApi } from '../../purchase/quota-places.api.ts';
import { assertOpen } from '../tree/create-quota.ts';
import type { Quotas } from '../tree/postgres-quotas.ts';
import { moveView, requestView } from './move-views.ts';
import type { MoveRequest, Moves } from './postgres-moves.ts';

/** The decision of a second operator about a pending move. */
export interface DecideMoveCommand {
  readonly moveId: string;
  readonly by: string;
}

/** Approves or rejects pending moves. Only another operator than the one who asked for the move can do that. */
export class DecideMove {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly places: QuotaPlacesApi,
    private readonly quotas: Quotas,
    private readonly moves: Moves,
  ) {}

  /** Moves the places. The row of the ledger has the id of the request and names both operators. */
  async approve({ moveId, by }: DecideMoveCommand): Promise<QuotaMove> {
    let moved: MovedPlaces | undefined;
    const view = await this.transactions.run(async (tx) => {
      const request = await this.lockPending(tx, { moveId, by });
      const { id, matchId, from, to, seatIds, reason, actor, rule } = request;
      const target = await this.quotas.lock(tx, to);
      if (target) assertOpen(target);
      await this.moves.decide(tx, id, { status: 'approved', by });
      recordChange(tx, {
        matchId,
        before: { status: 'pending' },
        after: { status: 'approved', from, to, quantity: seatIds.length, actor },
      });
      moved = await this.places.move(tx, { matchId, from, to, seatIds, boundTo: id });
      const row = await this.moves.add(tx, { id, matchId, kind: 'move', actor, approvedBy: by, from, to, reason, seatIds });
      return moveView({ ...row, rule });
    });
    if (moved) this.places.announce([moved]);
    return view;
  }

  /** The places are free in their quota again. */
  reject({ moveId, by }: DecideMoveCommand): Promise<QuotaMove> {
    return this.transactions.run(async (tx) => {
      const request = await this.lockPending(tx, { moveId, by });
      await this.moves.decide(tx, request.id, { status: 'rejected', by });
      recordChange(tx, { matchId: request.matchId, before: { status: 'pending' }, after: { status: 'rejected' } });
      await this.places.unbind(tx, [{ boundTo: request.id, seatIds: request.seatIds }]);
      return requestView({ ...request, status: 'rejected' });
    });
  }

  private async lockPending(tx: Transaction, { moveId, by }: DecideMoveCommand): Promise<MoveRequest> {
    const request = await this.moves.lockRequest(tx, moveId);
    if (!request) throw new DomainError('NOT_FOUND', 'There is no such pending move.');
    if (request.actor === by) throw new RequestRefused('FORBIDDEN', { detail: 'Another operator must decide about this move.' });
    if (request.status !== 'pending') throw new DomainError('INVALID_STATE', `This move is ${request.status}.`);
    return request;
  }
}
