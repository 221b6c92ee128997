import { z } from 'zod';
import { pageOf } from './paging.ts';
import { seatLabel } from './reservations.ts';
import { personName, uuidField } from './text-fields.ts';

/** `used`: a gate has admitted the ticket. `transferred` and `refunded`: the ticket and its code are no longer valid. */
export const ticketStatus = z.enum(['valid', 'used', 'transferred', 'refunded']);
export type TicketStatus = z.infer<typeof ticketStatus>;

export const ticketAnswer = z
  .object({
    id: z.guid(),
    order_id: z.guid(),
    match_id: z.guid(),
    seat: seatLabel,
    holder_name: z.string(),
    status: ticketStatus,
    code: z.string().meta({ description: 'The text of the QR code' }),
  })
  .meta({ id: 'Ticket' });
export type Ticket = z.infer<typeof ticketAnswer>;

export const ticketListAnswer = pageOf(ticketAnswer).meta({ id: 'TicketList' });

export const transferRequest = z.strictObject({ to_user_id: uuidField, holder_name: personName }).meta({ id: 'TransferRequest' });

/** The giver's ticket after the transfer. The receiver's ticket has another id and code, which the giver must not see. */
export const transferredAnswer = ticketAnswer
  .extend({ status: z.literal('transferred'), code: z.string().meta({ description: 'No longer valid' }) })
  .meta({ id: 'TransferredTicket' });
