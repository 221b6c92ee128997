import { transferRequest, transferredAnswer } from '#contracts/tickets';
import { Caller, type CallerIdentity } from '#platform/http/caller';
import { Endpoint } from '#platform/http/endpoint';
import { uuidField } from '#contracts/text-fields';
import { Answers } from '#platform/idempotency/answers';
import { Body, Controller, Param, Post, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { ticketView } from '../ticketing/ticketing.api.ts';
import { TransferTicket } from './transfer-ticket.ts';

@ApiTags('tickets')
@Controller('api/v1/tickets')
export class TransfersController {
  constructor(
    private readonly transferTicket: TransferTicket,
    private readonly answers: Answers,
  ) {}

  @Post(':id/transfer')
  @Endpoint({
    operationId: 'transferTicket',
    access: 'fan',
    fanLimit: true,
    refusals: ['NOT_FOUND', 'BLACKLISTED', 'INVALID_STATE', 'TICKET_LIMIT_REACHED'],
  })
  @ApiOperation({
    summary: 'Transfer one of my tickets to another fan; its code becomes invalid at once',
    description: 'The receiver gets a new ticket with a new code, which counts for the limit of the match.',
  })
  @ApiOkResponse({ standardSchema: transferredAnswer })
  transfer(
    @Caller() { userId }: CallerIdentity,
    @Param('id', { schema: uuidField }) ticketId: string,
    @Body({ schema: transferRequest }) body: z.output<typeof transferRequest>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answers.give(
      reply,
      () => this.transferTicket.execute({ ticketId, userId, toUserId: body.to_user_id, holderName: body.holder_name }),
      (ticket) => ({ status: 200, body: { ...ticketView(ticket), status: 'transferred' } }),
    );
  }
}
