import { Caller, type CallerIdentity } from '#platform/http/caller';
import { Endpoint } from '#platform/http/endpoint';
import { pageQuery, type Page, type PageQuery } from '#contracts/paging';
import { decodeCursor, page } from '#platform/http/paging';
import { ticketAnswer, ticketListAnswer } from '#contracts/tickets';
import { ticketPdf } from '#ticketing/ticket-pdf';
import { ticketQr } from '#ticketing/ticket-qr';
import { RequestRefused } from '#platform/http/request-refused';
import { uuidField } from '#contracts/text-fields';
import { Controller, Get, Header, Param, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { CatalogApi } from '../catalog/catalog.api.ts';
import { PostgresTickets } from './postgres-tickets.ts';
import { ticketView, type OwnTicket } from './ticketing.api.ts';

const SVG = 'image/svg+xml';
const PDF = 'application/pdf';

@ApiTags('tickets')
@Controller('api/v1/tickets')
export class TicketsController {
  constructor(
    private readonly tickets: PostgresTickets,
    private readonly catalog: CatalogApi,
  ) {}

  @Get()
  @Endpoint({ operationId: 'listTickets', access: 'fan' })
  @ApiOperation({
    summary: 'My tickets, newest first',
    description: 'Also tickets that were transferred or refunded; `status` says so.',
  })
  @ApiOkResponse({ standardSchema: ticketListAnswer })
  async list(
    @Caller() { userId }: CallerIdentity,
    @Query({ schema: pageQuery }) { limit, cursor }: PageQuery,
  ): Promise<Page<z.infer<typeof ticketAnswer>>> {
    const found = await this.tickets.ofFan(userId, { limit: limit + 1, after: decodeCursor(cursor) });
    return page(found, limit, ticketView, ({ id }) => id);
  }

  @Get(':id')
  @Endpoint({ operationId: 'getTicket', access: 'fan', refusals: ['NOT_FOUND'] })
  @ApiOperation({ summary: 'One of my tickets', description: "Another fan's ticket is 404." })
  @ApiOkResponse({ standardSchema: ticketAnswer })
  async one(
    @Caller() { userId }: CallerIdentity,
    @Param('id', { schema: uuidField }) id: string,
  ): Promise<z.infer<typeof ticketAnswer>> {
    return ticketView(await this.ownTicket(id, userId));
  }

  @Get(':id/qr.svg')
  @Endpoint({ operationId: 'getTicketQr', access: 'fan', refusals: ['NOT_FOUND', 'INVALID_STATE'] })
  @ApiOperation({
    summary: 'The QR code of one of my tickets',
    description: 'An SVG to show at the gate. A ticket that was transferred or refunded is 409 `INVALID_STATE`.',
  })
  @ApiProduces(SVG)
  @ApiOkResponse({ schema: { type: 'string' } })
  @Header('content-type', `${SVG}; charset=utf-8`)
  async qr(@Caller() { userId }: CallerIdentity, @Param('id', { schema: uuidField }) id: string): Promise<string> {
    return ticketQr((await this.ownLivingTicket(id, userId)).code);
  }

  @Get(':id/ticket.pdf')
  @Endpoint({ operationId: 'getTicketPdf', access: 'fan', refusals: ['NOT_FOUND', 'INVALID_STATE'] })
  @ApiOperation({
    summary: 'One of my tickets, to print',
    description: 'A PDF to print, with the QR code. A ticket that was transferred or refunded is 409 `INVALID_STATE`.',
  })
  @ApiProduces(PDF)
  @ApiOkResponse({ schema: { type: 'string', format: 'binary' } })
  async pdf(
    @Caller() { userId }: CallerIdentity,
    @Param('id', { schema: uuidField }) id: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { matchId, holderName, sector, row, number, code } = await this.ownLivingTicket(id, userId);
    const [match, sectors] = await Promise.all([this.catalog.match(matchId), this.catalog.sectors(matchId)]);
    if (!match) throw new Error(`a ticket exists for the unknown match ${matchId}`);
    const printed = {
      matchName: `${match.home} vs ${match.away}`,
      kickoffAt: match.kickoffAt.toISOString(),
      venue: match.venue,
      gate: sectors.find(({ name }) => name === sector)?.gate ?? null,
      seat: number === null ? null : String(number),
    };
    const pdf = ticketPdf({ ...printed, id, holderName, sector, row, code });
    await reply.type(PDF).header('content-disposition', `inline; filename="ticket-${id}.pdf"`).send(pdf);
  }

  private async ownLivingTicket(id: string, userId: string): Promise<OwnTicket> {
    const ticket = await this.ownTicket(id, userId);
    if (ticket.status === 'transferred' || ticket.status === 'refunded') {
      throw new RequestRefused('INVALID_STATE', { detail: `This ticket was ${ticket.status}: its code is no longer valid.` });
    }
    return ticket;
  }

  private async ownTicket(id: string, userId: string): Promise<OwnTicket> {
    const ticket = await this.tickets.find(id, userId);
    if (!ticket) throw new RequestRefused('NOT_FOUND', { detail: 'There is no such ticket.' });
    return ticket;
  }
}
