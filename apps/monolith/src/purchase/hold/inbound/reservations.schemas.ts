import { uuidField } from '#platform/http/text-fields';
import { z } from 'zod';
import type { Reservation } from '../../application/ports.ts';

export const holdBody = z
  .union([
    z.strictObject({ sector_id: uuidField, quantity: z.int().min(1).max(20) }),
    z.strictObject({
      seat_ids: z
        .array(uuidField)
        .min(1)
        .max(20)
        .refine((ids) => new Set(ids).size === ids.length, 'names a seat twice'),
    }),
  ])
  .meta({ id: 'HoldRequest' });

export const reservedSeat = z.object({
  seat_id: z.guid(),
  sector: z.string(),
  row: z.string().nullable(),
  number: z.int().nullable(),
  price_cents: z.int(),
});

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

/** The seats of a reservation as the API answers them. */
export const seatsView = (seats: Reservation['seats']): z.infer<typeof reservedSeat>[] =>
  seats.map((seat) => ({
    seat_id: seat.seatId,
    sector: seat.sector,
    row: seat.row,
    number: seat.number,
    price_cents: seat.priceCents,
  }));

export function reservationView(reservation: Reservation): z.infer<typeof reservationAnswer> {
  return {
    id: reservation.id,
    status: reservation.status,
    match_id: reservation.matchId,
    seats: seatsView(reservation.seats),
    together: reservation.together,
    total_cents: reservation.totalCents,
    currency: reservation.currency,
    expires_at: reservation.expiresAt.toISOString(),
  };
}
