import { Caller, type CallerIdentity } from '#platform/http/caller';
import { Endpoint } from '#platform/http/endpoint';
import { decodeCursor, page, pageQuery, type Page, type PageQuery } from '#platform/http/paging';
import { RequestRefused } from '#platform/http/request-refused';
import { givenId } from '#platform/http/text-fields';
import { Controller, Get, Header, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Tickets, type Ticket } from '../application/ports.ts';
import { TicketCodes } from '../application/ticket-codes.ts';
import { ticketQr } from './ticket-qr.ts';
import { ticketAnswer, ticketListAnswer, ticketView } from './tickets.schemas.ts';

const SVG = 'image/svg+xml';

@ApiTags('tickets')
@Controller('api/v1/tickets')
export class TicketsController {
  constructor(
    private readonly tickets: Tickets,
    private readonly codes: TicketCodes,
  ) {}

  @Get()
  @Endpoint({ access: 'fan' })
  @ApiOperation({ summary: 'My tickets, newest first' })
  @ApiOkResponse({ standardSchema: ticketListAnswer })
  async list(
    @Caller() { userId }: CallerIdentity,
    @Query({ schema: pageQuery }) { limit, cursor }: PageQuery,
  ): Promise<Page<z.infer<typeof ticketAnswer>>> {
    const found = await this.tickets.ofFan(userId, { limit: limit + 1, after: decodeCursor(cursor) });
    return page(
      found,
      limit,
      (ticket) => this.view(ticket),
      ({ id }) => id,
    );
  }

  @Get(':id')
  @Endpoint({ access: 'fan' })
  @ApiOperation({ summary: 'One of my tickets' })
  @ApiOkResponse({ standardSchema: ticketAnswer })
  async one(
    @Caller() { userId }: CallerIdentity,
    @Param('id', { schema: givenId }) id: string,
  ): Promise<z.infer<typeof ticketAnswer>> {
    return this.view(await this.ownTicket(id, userId));
  }

  @Get(':id/qr.svg')
  @Endpoint({ access: 'fan' })
  @ApiOperation({ summary: 'The QR code of one of my tickets' })
  @ApiProduces(SVG)
  @ApiOkResponse({ schema: { type: 'string' } })
  @Header('content-type', `${SVG}; charset=utf-8`)
  async qr(@Caller() { userId }: CallerIdentity, @Param('id', { schema: givenId }) id: string): Promise<string> {
    const ticket = await this.ownTicket(id, userId);
    if (ticket.status === 'transferred' || ticket.status === 'refunded') {
      throw new RequestRefused('INVALID_STATE', { detail: `This ticket was ${ticket.status}: its code opens no gate.` });
    }
    return ticketQr(this.codes.write(ticket));
  }

  private async ownTicket(id: string, userId: string): Promise<Ticket> {
    const ticket = await this.tickets.find(id, userId);
    if (!ticket) throw new RequestRefused('NOT_FOUND', { detail: 'There is no such ticket.' });
    return ticket;
  }

  private view(ticket: Ticket): z.infer<typeof ticketAnswer> {
    return ticketView(ticket, this.codes.write(ticket));
  }
}
