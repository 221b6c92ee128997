import type { Reservation } from '#contracts/reservations';
import { paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';
import { ConfirmButton } from './confirm-button.tsx';
import { Countdown } from './countdown.tsx';
import { Link } from './link.tsx';
import { Notice, ProblemNotice } from './notice.tsx';
import { SeatPrices } from './seat-prices.tsx';
import type { Hold } from './use-hold.ts';

interface HoldSummaryProps {
  hold: Hold;
  reservation: Reservation;
  isTurnOver: boolean;
}

/** Shows the held seats with their countdown, and the buttons to check out or to release them. */
export function HoldSummary({ hold, reservation, isTurnOver }: HoldSummaryProps) {
  const { texts } = useLanguage();
  const inCheckout = reservation.status === 'ordered';
  return (
    <section className="card card-narrow stage" data-testid="hold-summary" data-reservation-id={reservation.id}>
      <div className="stage-top">
        <h2>{texts.hold.title}</h2>
        <Countdown until={reservation.expires_at} label={texts.hold.expiresIn} onEnd={hold.endAtExpiry} testId="hold-countdown" />
      </div>
      {inCheckout && <p>{texts.hold.ordered}</p>}
      {!reservation.together && <Notice tone="warning">{texts.hold.apart}</Notice>}
      {isTurnOver && !inCheckout && <Notice tone="info">{texts.hold.windowGone}</Notice>}
      <SeatPrices reservation={reservation} />
      {hold.problem && <ProblemNotice problem={hold.problem} />}
      <Link to={paths.checkout(reservation.match_id)} className="button button-primary button-wide" testId="go-checkout">
        {inCheckout ? texts.hold.toPayment : texts.hold.checkout}
      </Link>
      <ConfirmButton texts={texts.hold.release} disabled={hold.isBusy} onConfirm={hold.release} testId="release" />
    </section>
  );
}
