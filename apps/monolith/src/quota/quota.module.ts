import { Clock } from '#application/clock';
import { Ids } from '#application/ids';
import { Outbox } from '#application/outbox';
import { TransactionManager } from '#application/transaction-manager';
import { useCase } from '#platform/use-case';
import { Module } from '@nestjs/common';
import { CatalogApi } from '../catalog/catalog.api.ts';
import { CatalogModule } from '../catalog/catalog.module.ts';
import { FansApi } from '../fans/fans.api.ts';
import { FansModule } from '../fans/fans.module.ts';
import { ErasableWithFans, KeptAboutFans } from '../fans/kept-about-fans.api.ts';
import { ClaimsOfFan } from '../purchase/claims-of-fan.api.ts';
import { PurchaseModule } from '../purchase/purchase.module.ts';
import { QuotaPlacesApi } from '../purchase/quota-places.api.ts';
import { CONFIG } from '../tokens.ts';
import { WebhookEvents } from '../webhooks/webhook-events.api.ts';
import { WebhooksModule } from '../webhooks/webhooks.module.ts';
import { ClaimInvitation } from './claims/claim-invitation.ts';
import { ClaimsController } from './claims/claims.controller.ts';
import { EndInvitations } from './claims/end-invitations.ts';
import { KeptClaims } from './claims/kept-claims.ts';
import { LookUpInvitation } from './claims/look-up-invitation.ts';
import { PostgresClaims } from './claims/postgres-claims.ts';
import { InvitationViews } from './invitations/invitation-views.ts';
import { InvitationsController } from './invitations/invitations.controller.ts';
import { IssueInvitations } from './invitations/issue-invitations.ts';
import { ListPlans } from './invitations/list-plans.ts';
import { PostgresInvitations } from './invitations/postgres-invitations.ts';
import { ResendInvitation } from './invitations/resend-invitation.ts';
import { SendInvitations } from './invitations/send-invitations.ts';
import { InvitationMessages } from './messages/invitation-messages.ts';
import { PostgresNotices } from './messages/postgres-notices.ts';
import { PostgresReminders } from './messages/postgres-reminders.ts';
import { QuotaMessages } from './messages/quota-messages.schedule.ts';
import { QuotaNotices } from './messages/quota-notices.ts';
import { RemindInvited } from './messages/remind-invited.ts';
import { ReturnMails } from './messages/return-mails.ts';
import { DecideMove } from './moves/decide-move.ts';
import { MovePlaces } from './moves/move-places.ts';
import { MovesController } from './moves/moves.controller.ts';
import { PostgresMoves } from './moves/postgres-moves.ts';
import { QuotaDeadlines } from './moves/quota-deadlines.schedule.ts';
import { ReturnPlaces, SYSTEM } from './moves/return-places.ts';
import { CheckMatchPolicy } from './policies/check-match-policy.ts';
import { PoliciesController } from './policies/policies.controller.ts';
import { WithdrawFromFan } from './claims/withdraw-from-fan.ts';
import { QuotaApi, type NewQuota } from './quota.api.ts';
import { AllocationController } from './tree/allocation.controller.ts';
import { ChangeQuota } from './tree/change-quota.ts';
import { CreateQuota, type CreateQuotaCommand } from './tree/create-quota.ts';
import { OpsQuotasController } from './tree/ops-quotas.controller.ts';
import { PartnerQuotasController } from './tree/partner-quotas.controller.ts';
import { FollowKickoff } from './tree/follow-kickoff.ts';
import { PostgresQuotas } from './tree/postgres-quotas.ts';
import { QuotaViews } from './tree/quota-views.ts';
import { ReadAllocation } from './tree/read-allocation.ts';

/** Quotas: places of a match that are set aside for an owner before the sale, their moves and their return. */
@Module({
  imports: [CatalogModule, FansModule, PurchaseModule, WebhooksModule],
  controllers: [
    OpsQuotasController,
    PartnerQuotasController,
    AllocationController,
    MovesController,
    PoliciesController,
    ClaimsController,
    InvitationsController,
  ],
  providers: [
    PostgresQuotas,
    PostgresMoves,
    PostgresClaims,
    PostgresInvitations,
    useCase(QuotaViews, PostgresQuotas, QuotaPlacesApi),
    useCase(CreateQuota, TransactionManager, CatalogApi, QuotaPlacesApi, PostgresQuotas, PostgresMoves, Clock),
    useCase(ChangeQuota, TransactionManager, CatalogApi, PostgresQuotas, PostgresClaims, QuotaViews, Clock),
    useCase(FollowKickoff, PostgresQuotas, PostgresClaims),
    useCase(ReadAllocation, CatalogApi, QuotaPlacesApi, PostgresQuotas, PostgresMoves),
    useCase(MovePlaces, TransactionManager, CatalogApi, QuotaPlacesApi, PostgresQuotas, PostgresMoves),
    useCase(DecideMove, TransactionManager, QuotaPlacesApi, PostgresQuotas, PostgresMoves),
    useCase(ReturnPlaces, TransactionManager, QuotaPlacesApi, PostgresQuotas, PostgresMoves, EndInvitations, QuotaNotices),
    useCase(LookUpInvitation, CatalogApi, QuotaPlacesApi, PostgresClaims),
    useCase(ClaimInvitation, TransactionManager, CatalogApi, QuotaPlacesApi, PostgresClaims),
    useCase(EndInvitations, TransactionManager, QuotaPlacesApi, PostgresInvitations, PostgresClaims),
    useCase(CheckMatchPolicy, CatalogApi, QuotaPlacesApi, PostgresQuotas, PostgresMoves),
    useCase(KeptClaims, KeptAboutFans, ClaimsOfFan, PostgresClaims),
    useCase(WithdrawFromFan, ErasableWithFans, FansApi, PostgresClaims, EndInvitations),
    QuotaDeadlines,
    useCase(InvitationViews, CatalogApi, QuotaPlacesApi, Clock),
    useCase(ListPlans, CatalogApi, QuotaPlacesApi, PostgresQuotas, PostgresInvitations, Clock),
    useCase(SendInvitations, PostgresInvitations, InvitationMessages),
    useCase(
      IssueInvitations,
      TransactionManager,
      ListPlans,
      QuotaPlacesApi,
      PostgresQuotas,
      PostgresInvitations,
      SendInvitations,
    ),
    useCase(
      ResendInvitation,
      TransactionManager,
      CatalogApi,
      PostgresQuotas,
      PostgresInvitations,
      SendInvitations,
      InvitationViews,
    ),
    PostgresReminders,
    PostgresNotices,
    useCase(InvitationMessages, FansApi, Outbox, Ids, Clock, CONFIG),
    useCase(
      RemindInvited,
      TransactionManager,
      CatalogApi,
      QuotaPlacesApi,
      PostgresReminders,
      PostgresInvitations,
      InvitationMessages,
    ),
    useCase(ReturnMails, PostgresQuotas, Outbox, Ids, Clock),
    useCase(QuotaNotices, TransactionManager, CatalogApi, QuotaPlacesApi, PostgresNotices, ReturnMails, WebhookEvents),
    QuotaMessages,
    {
      provide: QuotaApi,
      useFactory: (createQuota: CreateQuota, issueInvitations: IssueInvitations, followKickoff: FollowKickoff): QuotaApi => ({
        create: async (quota) => (await createQuota.execute(commandOf(quota))).quota.id,
        invite: async (quotaId, listKey, rows) => {
          const list = { quotaId, listKey, rows, member: undefined, actor: SYSTEM, expiresAt: null };
          const refused = (await issueInvitations.execute(list)).find(({ status }) => status === 'refused');
          if (refused) throw new Error(`${rows[refused.index]?.email} is not invited: ${refused.message}`);
        },
        followKickoff: (tx, moved) => followKickoff.execute(tx, moved),
      }),
      inject: [CreateQuota, IssueInvitations, FollowKickoff],
    },
  ],
  exports: [QuotaApi],
})
export class QuotaModule {}

function commandOf({ returnAt, onReturn, neverTo, members, priceCents, ...quota }: NewQuota): CreateQuotaCommand {
  return {
    ...quota,
    members: members ?? [],
    contactEmail: null,
    opensAt: null,
    claimUntil: null,
    returnAt: returnAt ?? null,
    onReturn: onReturn ?? 'public',
    neverTo: neverTo ?? [],
    priceCents: priceCents ?? {},
    maxPerInvitation: 4,
    actor: SYSTEM,
  };
}
