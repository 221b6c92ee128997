import { pageQuery, type Page, type PageQuery } from '#contracts/paging';
import { uuidField } from '#contracts/text-fields';
import { acceptTransferRequest, transferAnswer, transferListAnswer, transferRequest, type Transfer } from '#contracts/transfers';
import { Caller, type CallerIdentity } from '#platform/http/caller';
import { Endpoint } from '#platform/http/endpoint';
import { decodeCursor, page } from '#platform/http/paging';
import { Answers } from '#platform/idempotency/answers';
import { Body, Controller, Delete, Get, Param, Post, Query, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { TicketOffers } from '../ticketing/ticket-offers.api.ts';
import { AcceptOffer } from './accept-offer.ts';
import { CallerAddress } from './caller-address.ts';
import { EndOffers } from './end-offers.ts';
import { OfferTicket } from './offer-ticket.ts';
import { offerView } from './offer-view.ts';

const OFFER = `Nothing changes until the receiver accepts. The offer ends after 72 hours, at kick-off at the latest, and a ticket has
one open offer. An unknown \`to_user_id\` is 404. An offer to an address is answered the same whether an account has it or not: it
belongs to the caller whose token has this address as a verified one.`;

const ACCEPT = `The giver's code becomes invalid, and the receiver gets a new ticket (\`new_ticket_id\`) with a new code. Every ticket
that a fan ever bought or accepted for the match counts for the limit unless it was refunded (tickets of a quota never count), also
after it was given away. An offer to somebody else is 404. Repeated by the same fan: the same answer.`;

@ApiTags('tickets')
@Controller('api/v1')
export class TransfersController {
  constructor(
    private readonly offerTicket: OfferTicket,
    private readonly acceptOffer: AcceptOffer,
    private readonly endOffers: EndOffers,
    private readonly offers: TicketOffers,
    private readonly addresses: CallerAddress,
    private readonly answers: Answers,
  ) {}

  @Post('tickets/:id/transfer')
  @Endpoint({
    operationId: 'transferTicket',
    access: 'fan',
    fanLimit: true,
    refusals: ['NOT_FOUND', 'INVALID_STATE', 'TRANSFERS_LOCKED'],
  })
  @ApiOperation({ summary: 'Offer one of my tickets to another fan', description: OFFER })
  @ApiAcceptedResponse({ standardSchema: transferAnswer })
  async offer(
    @Caller() caller: CallerIdentity,
    @Param('id', { schema: uuidField }) ticketId: string,
    @Body({ schema: transferRequest }) body: z.output<typeof transferRequest>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const to = 'to_user_id' in body ? { userId: body.to_user_id, email: null } : { userId: null, email: body.to_email };
    const giver = await this.addresses.of(caller);
    await this.answers.give(
      reply,
      () => this.offerTicket.execute({ ticketId, giver, to, holderName: body.holder_name ?? null }),
      (offer) => ({ status: 202, body: offerView(offer, caller.userId) }),
    );
  }

  @Get('transfers')
  @Endpoint({ operationId: 'listTransfers', access: 'fan' })
  @ApiOperation({
    summary: 'The offers of tickets that I made or got, newest first',
    description: 'With all that have ended. Offers to the verified address of the caller are included.',
  })
  @ApiOkResponse({ standardSchema: transferListAnswer })
  async list(
    @Caller() caller: CallerIdentity,
    @Query({ schema: pageQuery }) { limit, cursor }: PageQuery,
  ): Promise<Page<Transfer>> {
    const fan = await this.addresses.of(caller);
    const found = await this.offers.ofFan(fan, { limit: limit + 1, after: decodeCursor(cursor) });
    return page(
      found,
      limit,
      (offer) => offerView(offer, caller.userId),
      ({ id }) => id,
    );
  }

  @Post('transfers/:id/accept')
  @Endpoint({
    operationId: 'acceptTransfer',
    writeLimit: true,
    access: 'fan',
    refusals: ['NOT_FOUND', 'BLACKLISTED', 'INVALID_STATE', 'TRANSFERS_LOCKED', 'TICKET_LIMIT_REACHED'],
  })
  @ApiOperation({ summary: 'Accept a ticket that another fan offers me', description: ACCEPT })
  @ApiOkResponse({ standardSchema: transferAnswer })
  async accept(
    @Caller() caller: CallerIdentity,
    @Param('id', { schema: uuidField }) offerId: string,
    @Body({ schema: acceptTransferRequest }) body: z.output<typeof acceptTransferRequest>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const receiver = await this.addresses.of(caller);
    await this.answers.give(
      reply,
      () => this.acceptOffer.execute({ offerId, receiver, holderName: body?.holder_name ?? null }),
      (offer) => ({ status: 200, body: offerView(offer, caller.userId) }),
    );
  }

  @Post('transfers/:id/decline')
  @Endpoint({
    operationId: 'declineTransfer',
    writeLimit: true,
    access: 'fan',
    body: 'none',
    refusals: ['NOT_FOUND', 'INVALID_STATE'],
  })
  @ApiOperation({
    summary: 'Decline a ticket that another fan offers me',
    description: 'The ticket stays the giver’s, who is told. Repeated: the same answer.',
  })
  @ApiOkResponse({ standardSchema: transferAnswer })
  async decline(
    @Caller() caller: CallerIdentity,
    @Param('id', { schema: uuidField }) offerId: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const receiver = await this.addresses.of(caller);
    await this.answers.give(
      reply,
      () => this.endOffers.decline(offerId, receiver),
      (offer) => ({ status: 200, body: offerView(offer, caller.userId) }),
    );
  }

  @Delete('transfers/:id')
  @Endpoint({
    operationId: 'withdrawTransfer',
    writeLimit: true,
    access: 'fan',
    status: 204,
    body: 'none',
    refusals: ['NOT_FOUND', 'INVALID_STATE'],
  })
  @ApiOperation({
    summary: 'Withdraw my offer of a ticket',
    description: '204 also if it has ended without being accepted. Once it is accepted, the answer is `INVALID_STATE`.',
  })
  @ApiNoContentResponse()
  async withdraw(@Caller() { userId }: CallerIdentity, @Param('id', { schema: uuidField }) offerId: string): Promise<void> {
    await this.endOffers.withdraw(offerId, userId);
  }
}
