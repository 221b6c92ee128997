import { useEffect, useState } from 'react';
import { useTribina } from '../api/tribina-context.ts';
import type { Match, Order, Reservation } from '../api/types.ts';
import { CheckoutSteps } from '../parts/checkout-steps.tsx';
import { Countdown } from '../parts/countdown.tsx';
import { HoldersForm } from '../parts/holders-form.tsx';
import { Link } from '../parts/link.tsx';
import { Failed, Loading } from '../parts/loading.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { PaymentPanel } from '../parts/payment-panel.tsx';
import { SeatPrices } from '../parts/seat-prices.tsx';
import { Sign } from '../parts/sign.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { navigate, paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';
import { matchTitle } from '../text/match-title.ts';

interface Basket {
  match: Match;
  reservation: Reservation;
  /** Known once the fan has placed the order; the payment can then be taken up again after a reload. */
  order: Order | undefined;
}

/** Links in mails and pushes lead here. Who has nothing on hold is sent to the match, where the line or the seats are. */
export function CheckoutPage({ matchId }: { matchId: string }) {
  const { tribina, memory } = useTribina();
  const { reservationId } = memory.read(matchId);
  const load = async (signal: AbortSignal): Promise<Basket> => {
    const { orderId } = memory.read(matchId);
    const [match, reservation, order] = await Promise.all([
      tribina.match(matchId, signal),
      tribina.reservation(reservationId ?? '', signal),
      orderId ? tribina.order(orderId, signal) : undefined,
    ]);
    return { match, reservation, order };
  };
  const { value: basket, problem, reload } = useLoaded(load, reservationId);
  const nothingHere = !reservationId || problem?.status === 404;
  useEffect(() => {
    if (!nothingHere) return;
    if (problem) memory.forgetPurchase(matchId);
    navigate(paths.match(matchId), { replace: true });
  }, [nothingHere, problem, memory, matchId]);

  if (basket) return <Checkout basket={basket} onChange={reload} />;
  return problem && !nothingHere ? <Failed problem={problem} onRetry={reload} /> : <Loading />;
}

function Checkout({ basket: { match, reservation, order }, onChange }: { basket: Basket; onChange: () => void }) {
  const { texts } = useLanguage();
  const { memory } = useTribina();
  const { payment } = memory.read(match.id);
  const [ranOut, setRanOut] = useState(false);
  const settled = order && order.status !== 'awaiting_payment' ? order.id : undefined;
  useEffect(() => {
    if (settled) navigate(paths.order(settled), { replace: true });
  }, [settled]);

  const alive = reservation.status === 'ordered' || (reservation.status === 'held' && !ranOut);
  if (settled) return <Loading />;
  if (!alive) return <HoldOver matchId={match.id} isPaid={reservation.status === 'completed'} />;
  const paying = order !== undefined && payment !== undefined;
  return (
    <>
      <Link to={paths.match(match.id)} className="back-link">
        <Sign name="back" /> {texts.checkout.backToSeats}
      </Link>
      <PageTitle documentTitle={texts.checkout.title}>{texts.checkout.title}</PageTitle>
      <CheckoutSteps now={paying ? 'payment' : 'details'} />
      <div className="checkout">
        <aside className="card checkout-side" aria-labelledby="basket-title">
          <div className="stage-top">
            <h2 id="basket-title">{texts.checkout.yourOrder}</h2>
            <Countdown
              until={reservation.expires_at}
              label={texts.hold.expiresIn}
              onOver={() => (reservation.status === 'held' ? setRanOut(true) : onChange())}
              testId="hold-countdown"
            />
          </div>
          <p className="checkout-match">{matchTitle(match)}</p>
          <SeatPrices reservation={reservation} />
        </aside>
        {paying ? (
          <PaymentPanel order={order} payment={payment} onChange={onChange} />
        ) : (
          <HoldersForm reservation={reservation} onPlaced={onChange} />
        )}
      </div>
    </>
  );
}

function HoldOver({ matchId, isPaid }: { matchId: string; isPaid: boolean }) {
  const { texts } = useLanguage();
  const { memory } = useTribina();
  useEffect(() => memory.forgetPurchase(matchId), [memory, matchId]);
  if (isPaid) {
    return (
      <section className="card card-narrow stage">
        <PageTitle documentTitle={texts.checkout.title}>{texts.order.statuses.completed}</PageTitle>
        <Link to={paths.tickets} className="button button-primary">
          {texts.order.allTickets}
        </Link>
      </section>
    );
  }
  return (
    <section className="card card-narrow stage" data-testid="hold-over">
      <PageTitle documentTitle={texts.checkout.title}>{texts.checkout.holdOver}</PageTitle>
      <Link to={paths.match(matchId)} className="button button-primary">
        {texts.checkout.chooseAgain}
      </Link>
    </section>
  );
}
