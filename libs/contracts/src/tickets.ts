import { z } from 'zod';
import { idOf } from './answer-fields.ts';
import { pageOf } from './paging.ts';
import { seatLabel } from './reservations.ts';

/** `used`: a gate has admitted the ticket. `transferred` and `refunded`: the ticket and its code are no longer valid. */
export const ticketStatus = z.enum(['valid', 'used', 'transferred', 'refunded']);
export type TicketStatus = z.infer<typeof ticketStatus>;

export const ticketAnswer = z
  .object({
    id: idOf('ticket'),
    order_id: idOf('order'),
    match_id: idOf('match'),
    seat: seatLabel.meta({ description: 'The place of the ticket' }),
    holder_name: z.string().meta({ description: 'Name that is printed on the ticket' }),
    status: ticketStatus.meta({
      description: '`used`: a gate has admitted it. `transferred` and `refunded`: its code is not valid',
    }),
    code: z.string().meta({ description: 'The text of the QR code' }),
  })
  .meta({ id: 'Ticket' });
export type Ticket = z.infer<typeof ticketAnswer>;

export const ticketListAnswer = pageOf(ticketAnswer).meta({ id: 'TicketList' });
