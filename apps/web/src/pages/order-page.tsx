import type { Order } from '#contracts/orders';
import type { Ticket } from '#contracts/tickets';
import { useEffect, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { Link } from '../parts/link.tsx';
import { Loading, Notice } from '../parts/notice.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { TicketCard } from '../parts/ticket-card.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';

/**
 * The page polls the order this often, because the webhook of the payment provider usually arrives within a second after the
 * payment.
 */
const pollMs = 1_000;
/**
 * When the page has waited this long and the order still has no payment or no tickets, the page says that it takes longer and
 * polls four times less often. For an order without a payment it offers to pay again.
 */
const slowAfterMs = 10_000;

const isUnfinished = (order: Order) =>
  order.status === 'awaiting_payment' || (order.status === 'completed' && order.tickets.length === 0);

export function OrderPage({ orderId }: { orderId: string }) {
  const { api, purchaseStore } = useAppServices();
  const [isWaiting, setIsWaiting] = useState(true);
  const [isSlow, setIsSlow] = useState(false);
  const load = (signal: AbortSignal) => api.order(orderId, signal);
  const { value: order, problem, reload } = useLoaded(load, orderId, isWaiting ? (isSlow ? 4 * pollMs : pollMs) : undefined);

  useEffect(() => {
    if (!order) return;
    setIsWaiting(isUnfinished(order));
    if (order.status !== 'awaiting_payment') purchaseStore.forgetPurchase(order.match_id);
  }, [order, purchaseStore]);
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setTimeout(() => setIsSlow(true), slowAfterMs);
    return () => clearTimeout(timer);
  }, [isWaiting]);

  if (!order) return <Loading problem={problem} onRetry={reload} />;
  return <OrderView order={order} isSlow={isSlow && isWaiting} />;
}

function OrderView({ order, isSlow }: { order: Order; isSlow: boolean }) {
  const { texts, format } = useLanguage();
  const { purchaseStore } = useAppServices();
  const canPay = isSlow && order.status === 'awaiting_payment' && purchaseStore.read(order.match_id).orderId === order.id;
  const isFree = order.total_cents === 0 && order.status === 'completed';
  const tone = order.status === 'completed' ? 'good' : order.status === 'awaiting_payment' ? 'info' : 'warning';
  return (
    <>
      <PageTitle>{texts.order.title(order.number)}</PageTitle>
      <section className="card order-head">
        <p className="order-status-row">
          {order.status === 'awaiting_payment' && <span className="spinner" aria-hidden="true" />}
          <span
            className={`badge badge-order-${order.status}`}
            data-testid="order-status"
            data-status={order.status}
            role="status"
          >
            {isFree ? texts.order.freeCompleted : texts.order.statuses[order.status]}
          </span>
          <strong>{format.money(order.total_cents, order.currency)}</strong>
        </p>
        <Notice tone={tone}>{texts.order.explained[order.status]}</Notice>
        {isSlow && <Notice tone="warning">{texts.order.takingLong}</Notice>}
        {canPay && (
          <Link to={paths.checkout(order.match_id)} className="button">
            {texts.order.toPayment}
          </Link>
        )}
      </section>
      {order.status === 'completed' && order.tickets.length === 0 && <p role="status">{texts.order.waitingTickets}</p>}
      {order.tickets.length > 0 && <OrderTickets order={order} />}
      <OrderHistory order={order} />
      <Link to={paths.tickets} className="button">
        {texts.order.allTickets}
      </Link>
    </>
  );
}

function OrderTickets({ order }: { order: Order }) {
  const { texts } = useLanguage();
  const { api } = useAppServices();
  const key = order.tickets.map((ticket) => `${ticket.id}:${ticket.status}`).join(' ');
  const load = async (signal: AbortSignal): Promise<Ticket[]> =>
    Promise.all(order.tickets.map((ticket) => api.ticket(ticket.id, signal)));
  const { value: tickets, problem, reload } = useLoaded(load, key);
  const { value: match } = useLoaded((signal) => api.match(order.match_id, signal), order.match_id);
  if (!tickets) return <Loading problem={problem} onRetry={reload} />;
  return (
    <section aria-label={texts.tickets.title}>
      <ul className="ticket-list">
        {tickets.map((ticket) => (
          <TicketCard key={ticket.id} ticket={ticket} match={match} />
        ))}
      </ul>
    </section>
  );
}

/** What has happened to an order, with the times. */
function OrderHistory({ order }: { order: Order }) {
  const { texts, format } = useLanguage();
  if (order.timeline.length === 0) return null;
  return (
    <details className="card order-history">
      <summary>{texts.order.history}</summary>
      <ol>
        {order.timeline.map((entry) => (
          <li key={`${entry.at} ${entry.event}`}>
            <time dateTime={entry.at}>{format.clock(entry.at)}</time>
            {/* The contract allows new events. An event without a text here is shown by its name. */}
            <span>{texts.order.events[entry.event] ?? entry.event.replaceAll(/[._]/g, ' ')}</span>
          </li>
        ))}
      </ol>
    </details>
  );
}
