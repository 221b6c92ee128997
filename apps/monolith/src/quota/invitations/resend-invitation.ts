import { recordChange } from '#application/recorded-change';
import type { Transaction, TransactionManager } from '#application/transaction-manager';
import type { Invitation as InvitationView } from '#contracts/invitations';
import { DomainError } from '#domain/shared/domain-error';
import type { CatalogApi } from '../../catalog/catalog.api.ts';
import type { PostgresQuotas } from '../tree/postgres-quotas.ts';
import type { InvitationViews } from './invitation-views.ts';
import type { Invitation, PostgresInvitations } from './postgres-invitations.ts';
import type { SendInvitations } from './send-invitations.ts';

/** An invitation whose mail is sent again. `member` is the partner who must act for its quota; undefined for an operator. */
export interface ResendInvitationCommand {
  readonly invitationId: string;
  readonly member: string | undefined;
}

/** Sends the mail of an invitation again, with a new token. The old tokens stop working. */
export class ResendInvitation {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly catalog: CatalogApi,
    private readonly quotas: PostgresQuotas,
    private readonly invitations: PostgresInvitations,
    private readonly sendInvitations: SendInvitations,
    private readonly views: InvitationViews,
  ) {}

  async execute({ invitationId, member }: ResendInvitationCommand): Promise<InvitationView> {
    const found = await this.invitations.find(invitationId);
    const quota = found && (await this.quotas.ofMember(found.quotaId, member));
    const [view] = quota ? await this.views.of([found]) : [];
    if (!quota || !view) throw new DomainError('NOT_FOUND', 'There is no such invitation.');
    const sectors = await this.catalog.sectors(quota.matchId);
    return this.transactions.run(async (tx) => {
      const invitation = await this.lockOpen(tx, invitationId);
      const match = await this.catalog.match(quota.matchId, tx);
      if (!match) throw new Error('matches are never deleted');
      if (match.cancelledAt) throw new DomainError('INVALID_STATE', 'This match was cancelled.');
      await this.invitations.deleteTokens(tx, invitationId);
      await this.sendInvitations.execute(tx, { quota, match, sectors, invitations: [invitation] });
      recordChange(tx, { matchId: match.id, before: null, after: null });
      return view;
    });
  }

  /** Locks the invitation and throws `INVALID_STATE` if nobody can claim it any more. */
  private async lockOpen(tx: Transaction, id: string): Promise<Invitation> {
    const invitation = await this.invitations.lock(tx, id);
    if (!invitation) throw new Error('invitations are never deleted');
    const status = await this.views.statusNow(tx, invitation);
    if (status !== 'open' && status !== 'held') throw new DomainError('INVALID_STATE', `This invitation is ${status}.`);
    return invitation;
  }
}
