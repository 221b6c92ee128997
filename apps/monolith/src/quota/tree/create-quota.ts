import type { Clock } from '#application/clock';
import { recordChange } from '#application/recorded-change';
import type { RunOptions, TransactionManager } from '#application/transaction-manager';
import type { QuotaKind } from '#contracts/quota-kinds';
import type { PlannedPlaces, RequestedPlaces } from '#contracts/quotas';
import { DomainError } from '#domain/shared/domain-error';
import type { CatalogApi, CatalogMatch, CatalogSector } from '../../catalog/catalog.api.ts';
import type { MovedPlaces, QuotaPlacesApi } from '../../purchase/quota-places.api.ts';
import type { Moves } from '../moves/postgres-moves.ts';
import { namedIn, plannedPlacesView, planFreePlaces, type PlannedSector } from './plan-places.ts';
import type { Quotas } from './postgres-quotas.ts';
import {
  deadlineFaults,
  invalidFields,
  MAX_DEPTH,
  moveRefused,
  ruleAgainstChild,
  ruleAgainstReturnToParent,
  type FieldFault,
  type Quota,
  type QuotaSettings,
} from './quota.ts';
import { idsBySector, idsOf, takePlaces } from './take-places.ts';
import { withFreePlaces } from './with-free-places.ts';

/** A quota to create, and the places that it gets from its parent or from the public. */
export interface CreateQuotaCommand extends QuotaSettings {
  readonly matchId: string;
  readonly parentId: string | null;
  readonly kind: QuotaKind;
  readonly places: RequestedPlaces;
  /** User id of the operator, or `system`. */
  readonly actor: string;
}

/** A new quota and its places. */
export interface CreatedQuota {
  readonly quota: Quota;
  readonly sectors: readonly PlannedSector[];
}

/**
 * At SERIALIZABLE the transaction would fail with each buyer who is faster at one of the places. It decides nothing by what it reads
 * without a lock: the parent is locked, and each place is checked in the statement that moves it.
 */
const READ_COMMITTED: RunOptions = { isolation: 'read committed' };

/** Creates a quota: moves places from its parent or from the public to it. All places or none. */
export class CreateQuota {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly catalog: Pick<CatalogApi, 'match' | 'sectors'>,
    private readonly places: QuotaPlacesApi,
    private readonly quotas: Quotas,
    private readonly moves: Moves,
    private readonly clock: Clock,
  ) {}

  /** The places that `execute` would take now. Takes none. */
  async plan(command: CreateQuotaCommand): Promise<PlannedPlaces> {
    return plannedPlacesView(await this.chosen(command, await this.checked(command)));
  }

  async execute(command: CreateQuotaCommand): Promise<CreatedQuota> {
    const sectors = await this.checked(command);
    const named = new Set(namedIn(command.places));
    const { matchId, parentId } = command;
    let changed: MovedPlaces | undefined;
    const choose = async (): Promise<readonly PlannedSector[]> => {
      const chosen = await this.chosen(command, sectors);
      changed = { matchId, sectorIds: chosen.map(({ sectorId }) => sectorId) };
      if (parentId === null) this.places.announceMoving(idsBySector(chosen));
      return chosen;
    };
    const take = (chosen: readonly PlannedSector[]): Promise<CreatedQuota> =>
      this.transactions.run(async (tx) => {
        const parent = parentId === null ? undefined : await this.quotas.lock(tx, parentId);
        if (parent) assertOpen(parent);
        const { places: _places, actor, ...facts } = command;
        const quota = await this.quotas.add(tx, { ...facts, depth: (parent?.depth ?? 0) + 1 });
        const owners = { matchId, from: parentId, to: quota.id };
        const taken = await takePlaces(this.places, tx, owners, { sectors: chosen, named });
        const reason = `creation of ${quota.name}`;
        const row = { ...owners, kind: 'creation' as const, actor, approvedBy: null, reason, seatIds: idsOf(taken) };
        await this.moves.add(tx, row);
        const { id, ...created } = quota;
        const places = row.seatIds.length;
        recordChange(tx, { target: { type: 'quota', id }, matchId, before: null, after: { ...created, places } });
        return { quota, sectors: taken };
      }, READ_COMMITTED);
    try {
      return await withFreePlaces(choose, take);
    } finally {
      // Also after a failure: the places are proposed to buyers again.
      if (changed) this.places.announce([changed]);
    }
  }

  /** Checks everything but the places. Returns the sectors of the match. */
  private async checked(command: CreateQuotaCommand): Promise<readonly CatalogSector[]> {
    const [match, sectors] = await Promise.all([this.catalog.match(command.matchId), this.catalog.sectors(command.matchId)]);
    if (!match) throw new DomainError('NOT_FOUND', 'There is no such match.');
    const now = this.clock.now();
    assertUpcoming(match, now);
    const chain = command.parentId === null ? [] : await this.quotas.currentChain(command.parentId);
    const [parent] = chain;
    if (command.parentId !== null && parent?.matchId !== match.id)
      throw new DomainError('NOT_FOUND', 'This match has no such quota.');
    const faults: FieldFault[] = [
      ...deadlineFaults(command, { kickoffAt: match.kickoffAt, now }),
      ...priceFaults(command, sectors),
    ];
    if (command.onReturn === 'parent' && !parent)
      faults.push({ path: 'on_return', message: 'is parent, but there is no parent_id' });
    if (chain.length >= MAX_DEPTH)
      faults.push({ path: 'parent_id', message: `is at depth ${MAX_DEPTH}, and no quota is deeper` });
    if (faults.length > 0) throw invalidFields(faults);
    if (parent) assertOpen(parent);
    const rule = ruleAgainstChild(chain, command.kind);
    if (rule) throw moveRefused(rule);
    const own = { ...command, id: '' };
    if (command.onReturn === 'parent' && ruleAgainstReturnToParent([own, ...chain]))
      throw invalidFields([{ path: 'on_return', message: 'is parent, but never_to names the kind of the parent' }]);
    return sectors;
  }

  private chosen(
    { matchId, parentId: quotaId, places }: CreateQuotaCommand,
    sectors: readonly CatalogSector[],
  ): Promise<readonly PlannedSector[]> {
    return planFreePlaces(this.places, { matchId, quotaId }, places, sectors);
  }
}

/** The faults of prices for sectors that the match does not have. */
export function priceFaults(
  { priceCents }: Pick<QuotaSettings, 'priceCents'>,
  sectors: readonly Pick<CatalogSector, 'id'>[],
): readonly FieldFault[] {
  const known = new Set(sectors.map(({ id }) => id));
  return Object.keys(priceCents)
    .filter((id) => !known.has(id))
    .map((id) => ({ path: `price_cents.${id}`, message: 'is not a sector of this match' }));
}

export function assertOpen({ status, name }: Pick<Quota, 'status' | 'name'>): void {
  if (status === 'returned') throw new DomainError('INVALID_STATE', `The quota "${name}" has returned its places.`);
}

export function assertUpcoming({ cancelledAt, kickoffAt }: CatalogMatch, now: Date): void {
  if (cancelledAt !== null)
    throw new DomainError('INVALID_STATE', 'This match was cancelled.', { cancelled_at: cancelledAt.toISOString() });
  if (kickoffAt.getTime() <= now.getTime()) throw new DomainError('INVALID_STATE', 'This match has begun.');
}
