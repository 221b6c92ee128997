import type { Reservation as ReservationAnswer } from '#contracts/reservations';
import type { Reservation } from '../../application/ports.ts';

/** The seats of a reservation as the API answers them. */
export const seatsView = (seats: Reservation['seats']): ReservationAnswer['seats'] =>
  seats.map((seat) => ({
    seat_id: seat.seatId,
    sector: seat.sector,
    row: seat.row,
    number: seat.number,
    price_cents: seat.priceCents,
  }));

/** A reservation as the API answers it. */
export function reservationView(reservation: Reservation): ReservationAnswer {
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
