import { useEffect, useState } from 'react';
import { useTribina } from '../api/tribina-context.ts';
import type { Order, Ticket } from '../api/types.ts';
import { Link } from '../parts/link.tsx';
import { Failed, Loading } from '../parts/loading.tsx';
import { Notice } from '../parts/notice.tsx';
import { OrderHistory } from '../parts/order-history.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { TicketCard } from '../parts/ticket-card.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';

/** The webhook comes within a second of the provider's answer; after this long we say so and offer to pay again. */
const pollMs = 1_000;
const patienceMs = 10_000;

const isWaiting = (order: Order) =>
  order.status === 'awaiting_payment' || (order.status === 'completed' && order.tickets.length === 0);

export function OrderPage({ orderId }: { orderId: string }) {
  const { tribina, memory } = useTribina();
  const [waiting, setWaiting] = useState(true);
  const [slow, setSlow] = useState(false);
  const load = (signal: AbortSignal) => tribina.order(orderId, signal);
  const { value: order, problem, reload } = useLoaded(load, orderId, waiting ? (slow ? 4 * pollMs : pollMs) : undefined);

  useEffect(() => {
    if (!order) return;
    setWaiting(isWaiting(order));
    if (order.status !== 'awaiting_payment') memory.forgetPurchase(order.match_id);
  }, [order, memory]);
  useEffect(() => {
    if (!waiting) return;
    const timer = setTimeout(() => setSlow(true), patienceMs);
    return () => clearTimeout(timer);
  }, [waiting]);

  if (!order) return problem ? <Failed problem={problem} onRetry={reload} /> : <Loading />;
  return <OrderView order={order} slow={slow && waiting} />;
}

function OrderView({ order, slow }: { order: Order; slow: boolean }) {
  const { texts, format } = useLanguage();
  const { memory } = useTribina();
  const canPay = slow && order.status === 'awaiting_payment' && memory.read(order.match_id).orderId === order.id;
  const tone = order.status === 'completed' ? 'good' : order.status === 'awaiting_payment' ? 'info' : 'warning';
  return (
    <>
      <PageTitle documentTitle={texts.order.title(order.number)}>{texts.order.title(order.number)}</PageTitle>
      <section className="card order-head">
        <p className="order-status-row">
          {order.status === 'awaiting_payment' && <span className="spinner" aria-hidden="true" />}
          <span
            className={`badge badge-order-${order.status}`}
            data-testid="order-status"
            data-status={order.status}
            role="status"
          >
            {texts.order.statuses[order.status]}
          </span>
          <strong>{format.money(order.total_cents, order.currency)}</strong>
        </p>
        <Notice tone={tone}>{texts.order.explained[order.status]}</Notice>
        {slow && <Notice tone="warning">{texts.order.takingLong}</Notice>}
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
  const { tribina } = useTribina();
  const key = order.tickets.map((ticket) => `${ticket.id}:${ticket.status}`).join(' ');
  const load = async (signal: AbortSignal): Promise<Ticket[]> =>
    Promise.all(order.tickets.map((ticket) => tribina.ticket(ticket.id, signal)));
  const { value: tickets, problem, reload } = useLoaded(load, key);
  const { value: match } = useLoaded((signal) => tribina.match(order.match_id, signal), order.match_id);
  if (!tickets) return problem ? <Failed problem={problem} onRetry={reload} /> : <Loading />;
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
