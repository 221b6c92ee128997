import { recordChange } from '#application/recorded-change';
import type { Transaction, TransactionManager } from '#application/transaction-manager';
import type { InviteAnswer } from '#contracts/invitations';
import type { QuotaPlacesApi } from '../../purchase/quota-places.api.ts';
import type { Quotas } from '../tree/postgres-quotas.ts';
import { withFreePlaces } from '../tree/with-free-places.ts';
import type { CheckedList, IssueInvitationsCommand, ListPlans } from './list-plans.ts';
import { OneAtATime } from './one-at-a-time.ts';
import { addressKey, type PlannedRow, type RefusedRow } from './plan-list.ts';
import type { Invitations, NewInvitation } from './postgres-invitations.ts';
import type { SendInvitations } from './send-invitations.ts';

type Verdicts = InviteAnswer['items'];

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
    private readonly plans: ListPlans,
    private readonly places: QuotaPlacesApi,
    private readonly quotas: Quotas,
    private readonly invitations: Invitations,
    private readonly sendInvitations: Pick<SendInvitations, 'execute'>,
  ) {}

  /** The verdicts that `execute` would give now. Binds nothing and sends nothing. */
  async plan(command: IssueInvitationsCommand): Promise<Verdicts> {
    return verdictsOf(await this.plans.choose(command, await this.plans.check(command)));
  }

  async execute(command: IssueInvitationsCommand): Promise<Verdicts> {
    const list = await this.plans.check(command);
    return this.listsOfQuota.run(command.quotaId, () => this.issueChecked(command, list));
  }

  private issueChecked(command: IssueInvitationsCommand, list: CheckedList): Promise<Verdicts> {
    return withFreePlaces(
      () => this.plans.choose(command, list),
      (planned) =>
        this.transactions.run(async (tx) => {
          const verdicts = planned.some(({ kind }) => kind === 'placed')
            ? await this.issue(tx, command, { sectors: list.sectors, planned })
            : verdictsOf(planned, {
                created: new Map(),
                listed: await this.invitations.listed(command, addressesOf(planned), tx),
              });
          recordChange(tx, { matchId: list.quota.matchId, before: null, after: summaryOf(command, verdicts) });
          return verdicts;
        }),
    );
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
    if (!quota) throw new Error('quotas are never deleted');
    const { match, expiresAt } = await this.plans.endOf(quota, command.expiresAt, tx);
    const drafts = this.invitationsOf(planned);
    const facts = { matchId: quota.matchId, quotaId, listKey, actor, expiresAt, givenEnd: command.expiresAt };
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

  /** Row → its new invitation. The ids ascend in the order of the rows. */
  private invitationsOf(planned: readonly PlannedRow[]): ReadonlyMap<PlannedRow, NewInvitation> {
    const placed = planned.filter((row) => row.kind === 'placed');
    const ids = this.invitations.newIds(placed.length);
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

/** What the audit log says about a list: whom it invites is personal data. */
function summaryOf({ listKey, expiresAt }: IssueInvitationsCommand, verdicts: Verdicts) {
  const count = (wanted: Verdicts[number]['status']): number => verdicts.filter(({ status }) => status === wanted).length;
  const invitationIds = verdicts.flatMap(({ status, id }) => (status === 'created' && id ? [id] : []));
  return { listKey, expiresAt, invitationIds, duplicates: count('duplicate'), refused: count('refused') };
}

const addressOf = (row: Exclude<PlannedRow, RefusedRow>): string => addressKey(row.kind === 'placed' ? row.row.email : row.email);
const addressesOf = (planned: readonly PlannedRow[]): string[] =>
  planned.flatMap((row) => (row.kind === 'refused' ? [] : [addressOf(row)]));
