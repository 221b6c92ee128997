import { recordChange } from '#application/recorded-change';
import type { Transaction, TransactionManager } from '#application/transaction-manager';
import type { QuotaMove, RequestedPlaces } from '#contracts/quotas';
import { DomainError } from '#domain/shared/domain-error';
import type { CatalogApi } from '../../catalog/catalog.api.ts';
import type { MovedPlaces, PlaceOwner, QuotaPlacesApi } from '../../purchase/quota-places.api.ts';
import { assertOpen } from '../tree/create-quota.ts';
import { planFreePlaces } from '../tree/plan-places.ts';
import type { Quotas } from '../tree/postgres-quotas.ts';
import { invalidFields, moveRefused, ruleAgainst, type Quota } from '../tree/quota.ts';
import { withFreePlaces } from '../tree/with-free-places.ts';
import { moveView, requestView } from './move-views.ts';
import type { Moves } from './postgres-moves.ts';

/** Moves free places of a quota to another one of the match, or to the public (null). */
export interface MovePlacesCommand {
  readonly from: string;
  readonly to: PlaceOwner;
  readonly places: RequestedPlaces;
  readonly reason: string;
  /** Asks a second operator for a move that a rule refuses. */
  readonly override: boolean;
  readonly actor: string;
}

/** A move, or the request for it, and its match. */
export interface MoveOfMatch {
  readonly matchId: string;
  readonly move: QuotaMove;
}

/** A move that an operator asks for, with the places that were chosen for it. */
interface ChosenMove extends MovePlacesCommand {
  readonly matchId: string;
  readonly seatIds: readonly string[];
}

/**
 * Moves free places between quotas. A move that a rule refuses becomes a request with `override`: it binds its places until a
 * second operator decides.
 */
export class MovePlaces {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly catalog: Pick<CatalogApi, 'sectors'>,
    private readonly places: QuotaPlacesApi,
    private readonly quotas: Quotas,
    private readonly moves: Moves,
  ) {}

  async execute(command: MovePlacesCommand): Promise<MoveOfMatch> {
    const source = await this.quotas.ofMember(command.from, undefined);
    if (!source) throw new DomainError('NOT_FOUND', 'There is no such quota.');
    await this.assertTarget(command, source);
    const sectors = await this.catalog.sectors(source.matchId);
    let moved: MovedPlaces | undefined;
    const result = await withFreePlaces(
      async () => {
        const owner = { matchId: source.matchId, quotaId: source.id };
        const chosen = await planFreePlaces(this.places, owner, command.places, sectors);
        return chosen.flatMap(({ taken }) => taken.map(({ seatId }) => seatId));
      },
      (seatIds) =>
        this.transactions.run(async (tx) => {
          moved = undefined;
          const move = { ...command, matchId: source.matchId, seatIds };
          const rule = await this.brokenRule(tx, command);
          if (rule && !command.override) throw moveRefused(rule);
          if (rule) return recorded(tx, { matchId: source.matchId, move: await this.request(tx, move, rule) });
          moved = await this.places.move(tx, move);
          const { matchId, from, to, reason, actor } = move;
          const row = { matchId, kind: 'move' as const, actor, approvedBy: null, from, to, reason, seatIds };
          return recorded(tx, { matchId, move: moveView(await this.moves.add(tx, row)) });
        }),
    );
    if (moved) this.places.announce([moved]);
    return result;
  }

  private async assertTarget({ to }: MovePlacesCommand, source: Quota): Promise<void> {
    if (to === null) return;
    if (to === source.id) throw invalidFields([{ path: 'to', message: 'is the quota itself' }]);
    const target = await this.quotas.ofMember(to, undefined);
    if (target?.matchId !== source.matchId) throw new DomainError('NOT_FOUND', 'The match of this quota has no such quota.');
  }

  /**
   * The rule that refuses the move. The target is locked: it cannot return its places in the meantime, so they do not arrive after
   * its return. Quotas are locked in the order of their ids, so two moves in opposite directions do not wait for each other.
   */
  private async brokenRule(tx: Transaction, { from, to }: MovePlacesCommand): Promise<string | undefined> {
    const locked = [];
    for (const id of [from, to].filter((owner) => owner !== null).sort()) locked.push(await this.quotas.lock(tx, id));
    const target = locked.find((quota) => quota?.id === to);
    if (!target) return undefined;
    assertOpen(target);
    return ruleAgainst(await this.quotas.chain(tx, from), target.kind);
  }

  private async request(tx: Transaction, move: ChosenMove, rule: string): Promise<QuotaMove> {
    const { matchId, from, to, reason, actor, seatIds } = move;
    if (to === null) throw new Error('no rule refuses a move to the public');
    const request = await this.moves.addRequest(tx, { matchId, from, to, seatIds, reason, rule, actor });
    await this.places.bind(tx, from, [{ boundTo: request.id, seatIds }]);
    return requestView(request);
  }
}

/** Hands the move, or the request for it, over to the audit log. */
function recorded(tx: Transaction, result: MoveOfMatch): MoveOfMatch {
  const { matchId, move } = result;
  const { id: moveId, status, from, to, quantity, reason, rule } = move;
  recordChange(tx, { matchId, before: null, after: { moveId, status, from, to, quantity, reason, rule } });
  return result;
}
