import type { Match } from '#contracts/matches';
import type { Order } from '#contracts/orders';
import type { Reservation } from '#contracts/reservations';
import { useEffect, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { Countdown } from '../parts/countdown.tsx';
import { HoldersForm } from '../parts/holders-form.tsx';
import { Icon } from '../parts/icon.tsx';
import { Link } from '../parts/link.tsx';
import { Loading } from '../parts/notice.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { PaymentPanel } from '../parts/payment-panel.tsx';
import { SeatPrices } from '../parts/seat-prices.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { navigate, paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';
import { matchTitle } from '../text/match-title.ts';

/** What the checkout page loads. */
interface CheckoutData {
  match: Match;
  reservation: Reservation;
  /** Present after the fan has placed the order, so that the fan can continue the payment after a reload. */
  order: Order | undefined;
}

/**
 * The page where the fan enters the ticket holders and pays. Links in mails and pushes lead here. A fan without a reservation is
 * sent on to the match page.
 */
export function CheckoutPage({ matchId }: { matchId: string }) {
  const { api, purchaseStore } = useAppServices();
  const { reservationId } = purchaseStore.read(matchId);
  const load = async (signal: AbortSignal): Promise<CheckoutData> => {
    const { orderId } = purchaseStore.read(matchId);
    const [match, reservation, order] = await Promise.all([
      api.match(matchId, signal),
      api.reservation(reservationId ?? '', signal),
      orderId ? api.order(orderId, signal) : undefined,
    ]);
    return { match, reservation, order };
  };
  const { value: data, problem, reload } = useLoaded(load, reservationId);
  const hasNoReservation = !reservationId || problem?.status === 404;
  useEffect(() => {
    if (!hasNoReservation) return;
    if (problem) purchaseStore.forgetPurchase(matchId);
    navigate(paths.match(matchId), { replace: true });
  }, [hasNoReservation, problem, purchaseStore, matchId]);

  if (data) return <Checkout data={data} onChange={reload} />;
  return <Loading problem={hasNoReservation ? undefined : problem} onRetry={reload} />;
}

function Checkout({ data: { match, reservation, order }, onChange }: { data: CheckoutData; onChange: () => void }) {
  const { texts } = useLanguage();
  const { purchaseStore } = useAppServices();
  const { payment, isInvited } = purchaseStore.read(match.id);
  const [hasExpired, setHasExpired] = useState(false);
  const finishedOrderId = order && order.status !== 'awaiting_payment' ? order.id : undefined;
  useEffect(() => {
    if (finishedOrderId) navigate(paths.order(finishedOrderId), { replace: true });
  }, [finishedOrderId]);

  const isActive = reservation.status === 'ordered' || (reservation.status === 'held' && !hasExpired);
  if (finishedOrderId) return <Loading />;
  if (!isActive) return <HoldEnded matchId={match.id} isInvited={isInvited} isPaid={reservation.status === 'completed'} />;
  const isPaying = order !== undefined && payment !== undefined;
  return (
    <>
      <Link to={isInvited ? paths.invitation : paths.match(match.id)} className="back-link">
        <Icon name="back" /> {isInvited ? texts.invitation.back : texts.checkout.backToSeats}
      </Link>
      <PageTitle>{texts.checkout.title}</PageTitle>
      <CheckoutSteps now={isPaying ? 'payment' : 'details'} isInvited={isInvited} isFree={reservation.total_cents === 0} />
      <div className="checkout">
        <aside className="card checkout-side" aria-labelledby="order-summary-title">
          <div className="stage-top">
            <h2 id="order-summary-title">{texts.checkout.yourOrder}</h2>
            <Countdown
              until={reservation.expires_at}
              label={texts.hold.expiresIn}
              onEnd={() => (reservation.status === 'held' ? setHasExpired(true) : onChange())}
              testId="hold-countdown"
            />
          </div>
          <p className="checkout-match">{matchTitle(match)}</p>
          <SeatPrices reservation={reservation} />
        </aside>
        {isPaying ? (
          <PaymentPanel order={order} payment={payment} onChange={onChange} />
        ) : (
          <HoldersForm reservation={reservation} onPlaced={onChange} />
        )}
      </div>
    </>
  );
}

interface HoldEndedProps {
  matchId: string;
  isInvited: boolean | undefined;
  isPaid: boolean;
}

function HoldEnded({ matchId, isInvited, isPaid }: HoldEndedProps) {
  const { texts } = useLanguage();
  const { purchaseStore } = useAppServices();
  // The purchase is forgotten at once, and the page is drawn again after that.
  const [backTo] = useState(isInvited ? paths.invitation : paths.match(matchId));
  useEffect(() => purchaseStore.forgetPurchase(matchId), [purchaseStore, matchId]);
  return (
    <section className="card card-narrow stage" data-testid={isPaid ? undefined : 'hold-over'}>
      <PageTitle documentTitle={texts.checkout.title}>
        {isPaid ? texts.order.statuses.completed : texts.checkout.holdOver}
      </PageTitle>
      <Link to={isPaid ? paths.tickets : backTo} className="button button-primary">
        {isPaid ? texts.order.allTickets : backTo === paths.invitation ? texts.invitation.back : texts.checkout.chooseAgain}
      </Link>
    </section>
  );
}

/** The list of the steps of a purchase, with the current step marked. */
function CheckoutSteps({ now, isInvited, isFree }: { now: 'details' | 'payment'; isInvited?: boolean; isFree: boolean }) {
  const { texts } = useLanguage();
  const first = isInvited ? texts.invitation.step : texts.checkout.stepSeats;
  const names = [first, texts.checkout.stepDetails, ...(isFree ? [] : [texts.checkout.stepPayment])];
  const current = now === 'details' ? 1 : 2;
  return (
    <ol className="steps" aria-label={texts.checkout.steps}>
      {names.map((name, index) => (
        <li
          key={name}
          className={index < current ? 'step step-done' : 'step'}
          aria-current={index === current ? 'step' : undefined}
        >
          <span className="step-sign" aria-hidden="true">
            {index < current ? <Icon name="check" /> : index + 1}
          </span>
          {name}
        </li>
      ))}
    </ol>
  );
}
