import type { InvitationLookup } from '#contracts/invitations';
import { useLanguage } from '../text/language.tsx';

/** What somebody is invited to: places, price and deadline. */
export function InvitationFacts({ invitation }: { invitation: InvitationLookup }) {
  const { texts, format } = useLanguage();
  const { seats, quantity, total_cents, currency, claim_until } = invitation;
  return (
    <>
      <dl className="invitation-facts">
        <div>
          <dt>{texts.invitation.price}</dt>
          <dd data-testid="invitation-price">
            {total_cents === 0 ? texts.invitation.free : format.money(total_cents, currency)}
          </dd>
        </div>
        <div>
          <dt>{texts.invitation.until}</dt>
          <dd>
            <time dateTime={claim_until}>{format.dateTime(claim_until)}</time>
          </dd>
        </div>
      </dl>
      <h3>
        {texts.invitation.seats} ({texts.invitation.places(quantity)})
      </h3>
      <ul className="invitation-seats">
        {seats.map((seat) => (
          <li key={seat.seat_id} data-testid="invitation-seat">
            <span className="seat-sector">{seat.sector}</span>
            {texts.seats.seatLabel(seat.row, seat.number)}
          </li>
        ))}
      </ul>
    </>
  );
}
