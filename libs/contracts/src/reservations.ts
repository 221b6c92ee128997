import { z } from 'zod';
import { idList, uuidField } from './text-fields.ts';

/** Asks for the best free seats of a sector, or for exactly the seats with these ids. */
export const holdBody = z
  .union([
    z.strictObject({ sector_id: uuidField, quantity: z.int().min(1).max(20) }),
    z.strictObject({ seat_ids: idList(uuidField, 20, 'names a seat twice') }),
  ])
  .meta({ id: 'HoldRequest' });
export type HoldRequest = z.infer<typeof holdBody>;

/** How a seat is named for fans. Row and number are null for a standing place. */
export const seatLabel = z.object({
  seat_id: z.guid(),
  sector: z.string(),
  row: z.string().nullable(),
  number: z.int().nullable(),
});

export const reservedSeat = seatLabel.extend({ price_cents: z.int() });

export const reservationAnswer = z
  .object({
    id: z.guid(),
    status: z.enum(['held', 'ordered', 'completed', 'expired', 'released']),
    match_id: z.guid(),
    seats: z.array(reservedSeat),
    together: z.boolean(),
    total_cents: z.int(),
    currency: z.string(),
    expires_at: z.iso.datetime(),
  })
  .meta({ id: 'Reservation' });
export type Reservation = z.infer<typeof reservationAnswer>;
