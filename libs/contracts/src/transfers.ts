import { z } from 'zod';
import { idOf } from './answer-fields.ts';
import { pageOf } from './paging.ts';
import { seatLabel } from './reservations.ts';
import { emailAddress, personName, uuidField } from './text-fields.ts';

export const transferStatuses = ['offered', 'accepted', 'declined', 'withdrawn', 'expired'] as const;
export type TransferStatus = (typeof transferStatuses)[number];

const holderName = personName
  .optional()
  .meta({ description: 'Name of the new holder, printed on the ticket. The receiver may give another one' });

/** Offers a ticket to a fan, or to the owner of an e-mail address. */
export const transferRequest = z
  .union([
    z.strictObject({ to_user_id: uuidField.meta({ description: 'The fan who may accept the ticket' }), holder_name: holderName }),
    z.strictObject({
      to_email: emailAddress.meta({ description: 'The address of the person who may accept the ticket. It gets a mail' }),
      holder_name: holderName,
    }),
  ])
  .meta({ id: 'TransferRequest' });

export const acceptTransferRequest = z
  .strictObject({
    holder_name: personName.optional().meta({
      description:
        'Name on the new ticket. Omitted: the name of the offer; without one that of the profile, else the name on the ticket stays',
    }),
  })
  .optional()
  .meta({ id: 'AcceptTransferRequest' });

/** The offer of a ticket, as the giver or the receiver sees it. */
export const transferAnswer = z
  .object({
    id: idOf('offer'),
    role: z.enum(['giver', 'receiver']).meta({ description: 'Whether the caller offers the ticket, or may accept it' }),
    ticket_id: idOf("giver's ticket"),
    match_id: idOf('match'),
    seat: seatLabel.meta({ description: 'The place of the ticket' }),
    status: z.enum(transferStatuses).meta({
      description:
        '`offered`: the receiver may accept it. `accepted`: the ticket is the receiver’s. `withdrawn`: by the giver, or the ticket was used or refunded, or the match cancelled',
    }),
    holder_name: z.string().nullable().meta({ description: 'The name that the giver suggests for the ticket. Null: none' }),
    to_user_id: z.guid().nullable().meta({ description: 'The fan to whom it is offered. Null: it is offered to an address' }),
    to_email: z.string().nullable().meta({ description: 'The address to which it is offered. Null: it is offered to a fan' }),
    new_ticket_id: z
      .guid()
      .nullable()
      .meta({ description: "The receiver's ticket. Null: the offer is not accepted, or the caller is the giver" }),
    created_at: z.iso.datetime().meta({ description: 'When the ticket was offered' }),
    expires_at: z.iso.datetime().meta({ description: 'When an open offer ends: after 72 hours, at kick-off at the latest' }),
    ended_at: z.iso
      .datetime()
      .nullable()
      .meta({ description: 'When it was accepted, declined or withdrawn. Null: none of these' }),
  })
  .meta({ id: 'Transfer' });
export type Transfer = z.infer<typeof transferAnswer>;

export const transferListAnswer = pageOf(transferAnswer).meta({ id: 'TransferList' });
