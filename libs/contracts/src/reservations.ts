import { z } from 'zod';
import { currency, idOf } from './answer-fields.ts';
import { pageOf, pageQuery } from './paging.ts';
import { idList, uuidField } from './text-fields.ts';

/** Asks for the best free seats of a sector, or for exactly the seats with these ids. */
export const holdBody = z
  .union([
    z.strictObject({
      sector_id: uuidField.meta({ description: 'The sector in which the best free seats are held' }),
      quantity: z.int().min(1).max(20).meta({ description: 'How many seats' }),
    }),
    z.strictObject({
      seat_ids: idList(uuidField, 20, 'names a seat twice').meta({
        description: 'Exactly these seats of one sector: all of them are held, or none',
      }),
    }),
  ])
  .meta({ id: 'HoldRequest' });
export type HoldRequest = z.infer<typeof holdBody>;

/** How a seat is named for fans. Row and number are null for a standing place. */
export const seatLabel = z.object({
  seat_id: idOf('seat, or of the standing place'),
  sector: z.string().meta({ description: 'Name of the sector' }),
  row: z.string().nullable().meta({ description: 'Row of the seat. Null for a standing place' }),
  number: z.int().nullable().meta({ description: 'Number of the seat in its row. Null for a standing place' }),
});

export const reservedSeat = seatLabel.extend({ price_cents: z.int().meta({ description: 'Price of the seat, in cents' }) });

const reservationStatus = z.enum(['held', 'ordered', 'completed', 'expired', 'released']);

export const reservationAnswer = z
  .object({
    id: idOf('reservation'),
    status: reservationStatus.meta({
      description: '`held`: can be checked out. `ordered`: its order awaits payment. `completed`: paid',
    }),
    match_id: idOf('match'),
    seats: z.array(reservedSeat).meta({ description: 'The seats that are held' }),
    together: z.boolean().meta({ description: 'Whether the seats are side by side' }),
    total_cents: z.int().meta({ description: 'Sum of the prices of all seats, in cents' }),
    currency,
    expires_at: z.iso
      .datetime()
      .meta({ description: 'When the hold ends. Then the seats are for sale again, unless they are paid' }),
  })
  .meta({ id: 'Reservation' });
export type Reservation = z.infer<typeof reservationAnswer>;

export const reservationListAnswer = pageOf(reservationAnswer).meta({ id: 'ReservationList' });

export const reservationQuery = pageQuery.extend({
  match_id: uuidField.optional().meta({ description: 'Only reservations of this match' }),
  status: reservationStatus.optional().meta({ description: 'Only reservations with this status' }),
});
