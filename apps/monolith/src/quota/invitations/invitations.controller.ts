import * as schemas from '#contracts/invitations';
import { pageQuery } from '#contracts/paging';
import { uuidField } from '#contracts/text-fields';
import { DomainError } from '#domain/shared/domain-error';
import { Caller, type CallerIdentity } from '#platform/http/caller';
import { Endpoint } from '#platform/http/endpoint';
import { decodeCursor, page } from '#platform/http/paging';
import { Answers } from '#platform/idempotency/answers';
import { Body, Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { memberOf } from '../tree/member-of.ts';
import { PostgresQuotas } from '../tree/postgres-quotas.ts';
import { InvitationViews } from './invitation-views.ts';
import { csvLists, inviteBody } from './invite-body.ts';
import { IssueInvitations } from './issue-invitations.ts';
import { PostgresInvitations } from './postgres-invitations.ts';
import { ResendInvitation } from './resend-invitation.ts';

const INVITE = `Binds places of the quota to each person of the list and sends the mails: side by side as far as possible, and of one sector
for each person. A row that is faulty, or for which too few places are left, is \`refused\`; the others are invited. A list with a
\`list_key\` invites no address twice, however often it is sent. With \`dry_run\` the verdicts are answered without ids, and nothing
happens. A list in CSV has its settings in the query.`;

/** Partners invite people to places of their quotas. Operators may do it for all quotas. */
@ApiTags('quotas')
@Controller('api/v1')
export class InvitationsController {
  constructor(
    private readonly issueInvitations: IssueInvitations,
    private readonly resendInvitation: ResendInvitation,
    private readonly quotas: PostgresQuotas,
    private readonly invitations: PostgresInvitations,
    private readonly views: InvitationViews,
    private readonly answers: Answers,
  ) {}

  @Post('quotas/:id/invitations')
  @Endpoint({
    operationId: 'issueInvitations',
    access: 'partner',
    audited: 'quota',
    status: 200,
    takesLists: true,
    csv: csvLists,
    refusals: ['NOT_FOUND', 'INVALID_STATE'],
  })
  @ApiOperation({ summary: 'Invite people to places of a quota', description: INVITE })
  @ApiOkResponse({ standardSchema: schemas.inviteAnswer })
  invite(
    @Caller() caller: CallerIdentity,
    @Param('id', { schema: uuidField }) quotaId: string,
    @Query({ schema: schemas.inviteQuery }) query: z.output<typeof schemas.inviteQuery>,
    @Body({ schema: inviteBody }) body: z.output<typeof inviteBody>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const expiresAt = body.expires_at ?? query.expires_at;
    const command = {
      ...{ quotaId, member: memberOf(caller), actor: caller.userId, rows: body.invitations },
      listKey: body.list_key ?? query.list_key ?? null,
      expiresAt: expiresAt === undefined ? null : new Date(expiresAt),
    };
    const isDryRun = body.dry_run || query.dry_run === 'true';
    return this.answers.give(
      reply,
      () => (isDryRun ? this.issueInvitations.plan(command) : this.issueInvitations.execute(command)),
      (items): { status: number; body: schemas.InviteAnswer } => ({ status: 200, body: { items } }),
    );
  }

  @Get('quotas/:id/invitations')
  @Endpoint({ operationId: 'listInvitations', access: 'partner', audited: 'quota', refusals: ['NOT_FOUND'] })
  @ApiOperation({
    summary: 'The invitations of a quota and what has become of them',
    description: 'The invitations of the quota itself, without those of its descendants, newest first.',
  })
  @ApiOkResponse({ standardSchema: schemas.invitationListAnswer })
  async list(
    @Caller() caller: CallerIdentity,
    @Param('id', { schema: uuidField }) quotaId: string,
    @Query({ schema: pageQuery }) { limit, cursor }: z.output<typeof pageQuery>,
  ): Promise<z.infer<typeof schemas.invitationListAnswer>> {
    if (!(await this.quotas.ofMember(quotaId, memberOf(caller)))) throw new DomainError('NOT_FOUND', 'There is no such quota.');
    const found = await this.invitations.pageOfQuota(quotaId, { after: decodeCursor(cursor), limit: limit + 1 });
    const views = await this.views.of(found);
    return page(
      views,
      limit,
      (view) => view,
      ({ id }) => id,
    );
  }

  @Post('invitations/:id/resend')
  @Endpoint({
    operationId: 'resendInvitation',
    access: 'partner',
    audited: 'invitation',
    status: 200,
    body: 'none',
    refusals: ['NOT_FOUND', 'INVALID_STATE'],
  })
  @ApiOperation({
    summary: 'Send the mail of an invitation again',
    description:
      'The new mail has a new link, and all older links of the invitation stop working. The end of the invitation stays.',
  })
  @ApiOkResponse({ standardSchema: schemas.invitationAnswer })
  async resend(
    @Caller() caller: CallerIdentity,
    @Param('id', { schema: uuidField }) invitationId: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answers.give(
      reply,
      () => this.resendInvitation.execute({ invitationId, member: memberOf(caller) }),
      (invitation): { status: number; body: schemas.Invitation } => ({ status: 200, body: invitation }),
    );
  }
}
