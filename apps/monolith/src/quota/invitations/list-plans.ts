import type { Clock } from '#application/clock';
import type { Transaction } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import type { CatalogApi, CatalogMatch, CatalogSector } from '../../catalog/catalog.api.ts';
import type { QuotaPlacesApi } from '../../purchase/quota-places.api.ts';
import { assertOpen, assertUpcoming } from '../tree/create-quota.ts';
import type { Quotas } from '../tree/postgres-quotas.ts';
import { invalidFields, type Quota } from '../tree/quota.ts';
import { checkRow, planList, type CheckedRow, type PlannedRow } from './plan-list.ts';
import type { Invitations } from './postgres-invitations.ts';

/** A list of people to invite to places of a quota. */
export interface IssueInvitationsCommand {
  readonly quotaId: string;
  /** The partner who must act for the quota. Undefined for an operator. */
  readonly member: string | undefined;
  readonly actor: string;
  readonly listKey: string | null;
  readonly expiresAt: Date | null;
  /** The rows as they were sent. What is wrong with a row is the verdict about it. */
  readonly rows: readonly unknown[];
}

/** A list whose rows were checked, and what its places are chosen from. */
export interface CheckedList {
  readonly quota: Quota;
  readonly sectors: readonly CatalogSector[];
  readonly rows: readonly CheckedRow[];
}

/** Checks lists of invitations and chooses places for their rows. Changes nothing. */
export class ListPlans {
  constructor(
    private readonly catalog: Pick<CatalogApi, 'match' | 'sectors'>,
    private readonly places: QuotaPlacesApi,
    private readonly quotas: Quotas,
    private readonly invitations: Invitations,
    private readonly clock: Clock,
  ) {}

  /** Checks everything but the places. */
  async check({ quotaId, member, expiresAt, rows }: IssueInvitationsCommand): Promise<CheckedList> {
    const now = this.clock.now();
    if (expiresAt && expiresAt.getTime() <= now.getTime())
      throw invalidFields([{ path: 'expires_at', message: 'must be in the future' }]);
    const quota = await this.quotas.ofMember(quotaId, member);
    if (!quota) throw new DomainError('NOT_FOUND', 'There is no such quota.');
    const [sectors] = await Promise.all([this.catalog.sectors(quota.matchId), this.endOf(quota, expiresAt)]);
    const limits = { maxQuantity: quota.maxPerInvitation, sectorIds: new Set(sectors.map(({ id }) => id)) };
    return { quota, sectors, rows: rows.map((row) => checkRow(row, limits)) };
  }

  /** Reads outside of a transaction. What changes before the transaction is found there. */
  async choose(command: IssueInvitationsCommand, { quota, sectors, rows }: CheckedList): Promise<readonly PlannedRow[]> {
    const emails = rows.flatMap((checked) => (checked.kind === 'valid' ? [checked.row.email] : []));
    const [free, listed] = await Promise.all([
      this.places.free({ matchId: quota.matchId, quotaId: quota.id }),
      this.invitations.listed(command, emails),
    ]);
    return planList(rows, { free, sectors, hasKey: command.listKey !== null, listed: new Set(listed.keys()) });
  }

  /** The match, and when new invitations end. Throws `INVALID_STATE` if nobody could claim them. */
  async endOf(
    quota: Quota,
    given: Date | null,
    tx?: Transaction,
  ): Promise<{ readonly match: CatalogMatch; readonly expiresAt: Date }> {
    const match = await this.catalog.match(quota.matchId, tx);
    if (!match) throw new Error('matches are never deleted');
    const now = this.clock.now();
    assertOpen(quota);
    assertUpcoming(match, now);
    const ends = [given, quota.claimUntil, quota.returnAt, match.kickoffAt].flatMap((time) => (time ? [time.getTime()] : []));
    const end = new Date(Math.min(...ends));
    if (end.getTime() <= now.getTime())
      throw new DomainError(
        'INVALID_STATE',
        `The invitations of the quota "${quota.name}" could be claimed until ${end.toISOString()}.`,
      );
    return { match, expiresAt: end };
  }
}
