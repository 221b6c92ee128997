import type { Reservation } from '#contracts/reservations';
import { useLanguage } from '../text/language.tsx';

/** The table of the held seats with their prices and the total. */
export function SeatPrices({ reservation }: { reservation: Reservation }) {
  const { texts, format } = useLanguage();
  return (
    <table className="seat-prices">
      <tbody>
        {reservation.seats.map((seat) => (
          <tr key={seat.seat_id} data-testid="held-seat">
            <th scope="row">
              <span className="seat-sector">{seat.sector}</span>
              <span>{texts.seats.seatLabel(seat.row, seat.number)}</span>
            </th>
            <td data-testid="seat-price">{format.money(seat.price_cents, reservation.currency)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">{texts.hold.total}</th>
          <td data-testid="total">{format.money(reservation.total_cents, reservation.currency)}</td>
        </tr>
      </tfoot>
    </table>
  );
}
