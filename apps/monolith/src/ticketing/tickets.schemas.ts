import { z } from 'zod';
import type { Ticket } from './postgres-tickets.ts';

export const ticketAnswer = z
  .object({
    id: z.guid(),
    order_id: z.guid(),
    match_id: z.guid(),
    seat: z.object({ seat_id: z.guid(), sector: z.string(), row: z.string().nullable(), number: z.int().nullable() }),
    holder_name: z.string(),
    status: z.enum(['valid', 'used', 'transferred', 'refunded']),
    code: z.string().meta({ description: 'The text of the QR code' }),
  })
  .meta({ id: 'Ticket' });

export const ticketListAnswer = z
  .object({ items: z.array(ticketAnswer), next_cursor: z.string().nullable() })
  .meta({ id: 'TicketList' });

/** A ticket with its code, in the format of the API. */
export function ticketView(ticket: Ticket, code: string): z.infer<typeof ticketAnswer> {
  return {
    id: ticket.id,
    order_id: ticket.orderId,
    match_id: ticket.matchId,
    seat: { seat_id: ticket.seatId, sector: ticket.sector, row: ticket.row, number: ticket.number },
    holder_name: ticket.holderName,
    status: ticket.status,
    code,
  };
}
