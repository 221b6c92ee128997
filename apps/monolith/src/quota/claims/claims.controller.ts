import { invitationLookupAnswer, invitationTokenRequest, type InvitationLookup } from '#contracts/invitations';
import { reservationAnswer } from '#contracts/reservations';
import { uuidField } from '#contracts/text-fields';
import { Caller, type CallerIdentity } from '#platform/http/caller';
import { Endpoint } from '#platform/http/endpoint';
import { Answers } from '#platform/idempotency/answers';
import { Body, Controller, Delete, Param, Post, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { PostgresInvitations } from '../invitations/postgres-invitations.ts';
import { memberOf } from '../tree/member-of.ts';
import { PostgresQuotas } from '../tree/postgres-quotas.ts';
import { ClaimInvitation, unknownInvitation } from './claim-invitation.ts';
import { EndInvitations } from './end-invitations.ts';
import { LookUpInvitation } from './look-up-invitation.ts';

const CLAIM = `Holds the places for the caller, without a turn and without counting for \`max_tickets_per_fan\`; then check out the
reservation as usual. The same fan gets the same reservation again (200). When the hold ends unpaid, the invitation is open again
until it ends. Before \`opens_at\` of the quota, and in a closed sale, the answer is \`SALE_NOT_OPEN\`.`;

/** Fans open and claim invitations; partners withdraw them. The token of an invitation is in bodies only, so no log has it. */
@ApiTags('quotas')
@Controller('api/v1/invitations')
export class ClaimsController {
  constructor(
    private readonly lookUpInvitation: LookUpInvitation,
    private readonly claimInvitation: ClaimInvitation,
    private readonly endInvitations: EndInvitations,
    private readonly invitations: PostgresInvitations,
    private readonly quotas: PostgresQuotas,
    private readonly answers: Answers,
  ) {}

  @Post('lookup')
  @Endpoint({
    operationId: 'lookUpInvitation',
    access: 'public',
    status: 200,
    noKeyBecause: 'it only reads; the token is in the body so that no log has it',
    refusals: ['NOT_FOUND'],
  })
  @ApiOperation({
    summary: 'What an invitation is for: the match, the places and their price',
    description: 'For everybody who has the token. An unknown token is 404.',
  })
  @ApiOkResponse({ standardSchema: invitationLookupAnswer })
  lookUp(
    @Body({ schema: invitationTokenRequest }) { token }: z.output<typeof invitationTokenRequest>,
  ): Promise<InvitationLookup> {
    return this.lookUpInvitation.execute(token);
  }

  @Post('claim')
  @Endpoint({
    operationId: 'claimInvitation',
    access: 'fan',
    refusals: ['NOT_FOUND', 'BLACKLISTED', 'SALE_NOT_OPEN', 'INVITATION_CLAIMED', 'INVITATION_EXPIRED'],
  })
  @ApiOperation({ summary: 'Claim an invitation: hold its places', description: CLAIM })
  @ApiCreatedResponse({ standardSchema: reservationAnswer })
  @ApiOkResponse({ standardSchema: reservationAnswer })
  claim(
    @Body({ schema: invitationTokenRequest }) { token }: z.output<typeof invitationTokenRequest>,
    @Caller() { userId }: CallerIdentity,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answers.give(
      reply,
      () => this.claimInvitation.execute({ token, userId }),
      ({ reservation, isNew }) => ({
        status: isNew ? 201 : 200,
        ...(isNew ? { location: `/api/v1/reservations/${reservation.id}` } : {}),
        body: reservation,
      }),
    );
  }

  @Delete(':id')
  @Endpoint({
    operationId: 'withdrawInvitation',
    access: 'partner',
    audited: 'invitation',
    status: 204,
    body: 'none',
    refusals: ['NOT_FOUND', 'INVALID_STATE'],
  })
  @ApiOperation({
    summary: 'Withdraw an invitation: its places are free in the quota again',
    description:
      '204 also if it has ended unpaid before. A hold of its places ends: a checkout is then `RESERVATION_EXPIRED`. Once it is paid, the answer is `INVALID_STATE`. An invitation of a quota for which the caller does not act is 404.',
  })
  @ApiNoContentResponse()
  async withdraw(@Param('id', { schema: uuidField }) id: string, @Caller() caller: CallerIdentity): Promise<void> {
    const invitation = await this.invitations.find(id);
    if (!invitation || !(await this.quotas.ofMember(invitation.quotaId, memberOf(caller)))) throw unknownInvitation();
    await this.endInvitations.withdraw(id);
  }
}
