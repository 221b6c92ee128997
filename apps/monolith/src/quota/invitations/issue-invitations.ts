import type { Clock } from '#application/clock';
import type { Ids } from '#application/ids';
import type { Transaction, TransactionManager } from '#application/transaction-manager';
import type { InviteAnswer } from '#contracts/invitations';
import { DomainError } from '#domain/shared/domain-error';
import type { CatalogApi, CatalogMatch, CatalogSector } from '../../catalog/catalog.api.ts';
import type { QuotaPlacesApi } from '../../purchase/quota-places.api.ts';
import { assertOpen, assertUpcoming } from '../tree/create-quota.ts';
import type { PostgresQuotas } from '../tree/postgres-quotas.ts';
import { invalidFields, type Quota } from '../tree/quota.ts';
import { withFreePlaces } from '../tree/with-free-places.ts';
import { OneAtATime } from './one-at-a-time.ts';
import { checkRow, planList, type CheckedRow, type PlannedRow, type RefusedRow } from './plan-list.ts';
import { addressKey, type NewInvitation, type PostgresInvitations } from './postgres-invitations.ts';
import type { SendInvitations } from './send-invitations.ts';

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

type Verdicts = InviteAnswer['items'];

/** A list whose rows were checked, and what its places are chosen from. */
interface CheckedList {
  readonly quota: Quota;
  readonly sectors: readonly CatalogSector[];
  readonly rows: readonly CheckedRow[];
}

/**
 * Invites the people of a list: binds places of the quota to each invitation and sends its mail, all in one transaction.
 *
 * A process issues the lists of a quota one at a time: lists that are planned at the same time choose the same places, and all but one
 * of them would be planned again. Without this 29 of 64 lists at once were refused with
 * `LOCK_TIMEOUT`.
 */
export class IssueInvitations {
  private readonly listsOfQuota = new OneAtATime();

  constructor(
    private readonly transactions: TransactionManager,
    private readonly catalog: CatalogApi,
    private readonly places: QuotaPlacesApi,
    private readonly quotas: PostgresQuotas,
    private readonly invitations: PostgresInvitations,
    private readonly sendInvitations: SendInvitations,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /** The verdicts that `execute` would give now. Binds nothing and sends nothing. */
  async plan(command: IssueInvitationsCommand): Promise<Verdicts> {
    return verdictsOf(await this.planned(command, await this.checked(command)));
  }

  async execute(command: IssueInvitationsCommand): Promise<Verdicts> {
    const list = await this.checked(command);
    return this.listsOfQuota.run(command.quotaId, () => this.issueChecked(command, list));
  }

  private issueChecked(command: IssueInvitationsCommand, list: CheckedList): Promise<Verdicts> {
    return withFreePlaces(
      () => this.planned(command, list),
      async (planned) => {
        if (planned.some(({ kind }) => kind === 'placed'))
          return this.transactions.run((tx) => this.issue(tx, command, { sectors: list.sectors, planned }));
        return verdictsOf(planned, { created: new Map(), listed: await this.invitations.listed(command, addressesOf(planned)) });
      },
    );
  }

  /** Checks everything but the places. */
  private async checked({ quotaId, member, expiresAt, rows }: IssueInvitationsCommand): Promise<CheckedList> {
    const now = this.clock.now();
    if (expiresAt && expiresAt.getTime() <= now.getTime())
      throw invalidFields([{ path: 'expires_at', message: 'must be in the future' }]);
    const quota = await this.quotas.ofMember(quotaId, member);
    if (!quota) throw new DomainError('NOT_FOUND', 'There is no such quota.');
    const [match, sectors] = await Promise.all([this.catalog.match(quota.matchId), this.catalog.sectors(quota.matchId)]);
    endOfInvitations(quota, match, { given: expiresAt, now });
    const limits = { maxQuantity: quota.maxPerInvitation, sectorIds: new Set(sectors.map(({ id }) => id)) };
    return { quota, sectors, rows: rows.map((row) => checkRow(row, limits)) };
  }

  /** Reads outside of a transaction. What changes before the transaction is found there. */
  private async planned(command: IssueInvitationsCommand, { quota, sectors, rows }: CheckedList): Promise<readonly PlannedRow[]> {
    const emails = rows.flatMap((checked) => (checked.kind === 'valid' ? [checked.row.email] : []));
    const [free, listed] = await Promise.all([
      this.places.free({ matchId: quota.matchId, quotaId: quota.id }),
      this.invitations.listed(command, emails),
    ]);
    return planList(rows, { free, sectors, hasKey: command.listKey !== null, listed: new Set(listed.keys()) });
  }

  /**
   * Adds the invitations and binds their places. The lock of the quota keeps its return and other lists out until the commit. If the
   * same list was added since the rows were planned, they are duplicates here.
   */
  private async issue(
    tx: Transaction,
    command: IssueInvitationsCommand,
    { sectors, planned }: Pick<CheckedList, 'sectors'> & { readonly planned: readonly PlannedRow[] },
  ): Promise<Verdicts> {
    const { quotaId, listKey, actor } = command;
    const quota = await this.quotas.lock(tx, quotaId);
    const match = quota && (await this.catalog.match(quota.matchId, tx));
    if (!match) throw new Error('neither quotas nor matches are deleted');
    const expiresAt = endOfInvitations(quota, match, { given: command.expiresAt, now: this.clock.now() });
    const drafts = this.invitationsOf(planned);
    const facts = { matchId: quota.matchId, quotaId, listKey, actor, expiresAt };
    const added = await this.invitations.add(tx, facts, [...drafts.values()]);
    const issued = [...drafts].filter(([, { id }]) => added.has(id));
    const invitations = issued.map(([, invitation]) => ({ ...invitation, expiresAt }));
    const bound = invitations.map(({ id, seatIds }) => ({ boundTo: id, seatIds }));
    await this.places.bind(tx, quotaId, bound);
    await this.sendInvitations.execute(tx, { quota, match, sectors, invitations });
    const created = new Map(issued.map(([row, { id }]) => [row, id]));
    const others = addressesOf(planned.filter((row) => !created.has(row)));
    return verdictsOf(planned, { created, listed: await this.invitations.listed(command, others, tx) });
  }

  /** Row → its new invitation. The ids are in the order of the rows, which is the order in which they are listed. */
  private invitationsOf(planned: readonly PlannedRow[]): ReadonlyMap<PlannedRow, NewInvitation> {
    const placed = planned.filter((row) => row.kind === 'placed');
    const ids = placed.map(() => this.ids.next()).sort();
    return new Map(
      placed.map((from, index) => {
        const { row, block } = from;
        const { email, locale, name = null, user_id: userId = null, note = null } = row;
        const seatIds = block.places.map(({ seatId }) => seatId);
        return [from, { id: ids[index]!, email, name, userId, locale, sectorId: block.sectorId, seatIds, note }];
      }),
    );
  }
}

/** When new invitations end. Throws `INVALID_STATE` if nobody could claim them. */
function endOfInvitations(
  quota: Quota,
  match: CatalogMatch | undefined,
  { given, now }: { readonly given: Date | null; readonly now: Date },
): Date {
  if (!match) throw new Error('matches are never deleted');
  assertOpen(quota);
  assertUpcoming(match, now);
  const ends = [given, quota.claimUntil, quota.returnAt, match.kickoffAt].flatMap((time) => (time ? [time.getTime()] : []));
  const end = new Date(Math.min(...ends));
  if (end.getTime() <= now.getTime())
    throw new DomainError(
      'INVALID_STATE',
      `The invitations of the quota "${quota.name}" could be claimed until ${end.toISOString()}.`,
    );
  return end;
}

/** The ids of a list's invitations: of those that this call has made by row, of those that the list had before by address. */
interface InvitationIds {
  readonly created: ReadonlyMap<PlannedRow, string>;
  readonly listed: ReadonlyMap<string, string>;
}

/** Without `ids` these are the verdicts of a dry run. */
function verdictsOf(planned: readonly PlannedRow[], ids?: InvitationIds): Verdicts {
  return planned.map((row, index) => {
    if (row.kind === 'refused') return { index, status: 'refused', code: row.code, message: row.message };
    if (!ids) return { index, status: row.kind === 'placed' ? 'created' : 'duplicate' };
    const created = ids.created.get(row);
    if (created) return { index, status: 'created', id: created };
    const before = ids.listed.get(addressOf(row));
    return { index, status: 'duplicate', ...(before ? { id: before } : {}) };
  });
}

const addressOf = (row: Exclude<PlannedRow, RefusedRow>): string => addressKey(row.kind === 'placed' ? row.row.email : row.email);
const addressesOf = (planned: readonly PlannedRow[]): string[] =>
  planned.flatMap((row) => (row.kind === 'refused' ? [] : [addressOf(row)]));
