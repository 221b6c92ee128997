import type { OpsOrder } from '#contracts/orders';
import { useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { ConfirmButton } from './button.tsx';
import { Notice, ProblemNotice } from './notice.tsx';
import { OpsRecorded } from './ops-recorded.tsx';
import { useMay } from './role-needed.tsx';
import { useAction } from './use-action.ts';

type OrderTicket = OpsOrder['tickets'][number];

/** The last eight digits of a ticket's id. Mails name tickets in the same way. */
const shortId = (ticketId: string) => ticketId.replaceAll('-', '').slice(-8).toUpperCase();

/** The price of the seats of these tickets, which a refund pays back. */
export function priceOf({ seats }: Pick<OpsOrder, 'seats'>, tickets: readonly OrderTicket[]): number {
  const prices = new Map(seats.map((seat) => [seat.seat_id, seat.price_cents]));
  return tickets.reduce((sum, { seat }) => sum + (prices.get(seat.seat_id) ?? 0), 0);
}

/** The tickets of an order by seat and holder, and the refund of the chosen ones or of all. The sum is shown before. */
export function OpsOrderRefund({ order, onChange }: { order: OpsOrder; onChange: () => void }) {
  const { texts, format } = useStaffLanguage();
  const { api } = useAppServices();
  const { busy, problem, run } = useAction();
  const [refundedCents, setRefundedCents] = useState<number>();
  const [chosenIds, setChosenIds] = useState<readonly string[]>([]);
  const mayRefund = useMay('ops:money') && order.status === 'completed';
  const valid = order.tickets.filter(({ status }) => status === 'valid');
  const chosen = valid.filter(({ id }) => chosenIds.includes(id));
  const refundTexts = texts.ops.refund;

  const money = (cents: number) => format.money(cents, order.currency);
  const place = ({ seat, holder_name }: OrderTicket) =>
    `${seat.sector} · ${texts.seats.seatLabel(seat.row, seat.number)} · ${holder_name}`;
  const toggle = (id: string) => setChosenIds((ids) => (ids.includes(id) ? ids.filter((other) => other !== id) : [...ids, id]));
  const refund = (tickets: readonly OrderTicket[]) =>
    void run(async () => {
      const { refund: done } = await api.opsRefund(
        order.id,
        tickets.map(({ id }) => id),
      );
      setRefundedCents(done.amount_cents);
      setChosenIds([]);
      onChange();
    });

  return (
    <>
      {problem && <ProblemNotice problem={problem} />}
      {refundedCents !== undefined && (
        <Notice tone="good" testId="ops-refunded">
          <p>{refundTexts.done(money(refundedCents))}</p>
          <OpsRecorded action="refundOrder" />
        </Notice>
      )}
      <ul className="ops-tickets">
        {order.tickets.map((ticket) => (
          <li key={ticket.id} data-testid="ops-ticket">
            <label>
              {mayRefund && ticket.status === 'valid' && valid.length > 1 && (
                <input
                  type="checkbox"
                  checked={chosenIds.includes(ticket.id)}
                  onChange={() => toggle(ticket.id)}
                  data-testid="ops-choose"
                />
              )}{' '}
              {place(ticket)}
            </label>
            <span>
              {refundTexts.ticket(shortId(ticket.id))} · {texts.tickets.statuses[ticket.status]}
            </span>
          </li>
        ))}
      </ul>
      {chosen.length > 0 && (
        <ConfirmButton
          texts={refundTexts.chosen(chosen.map(place).join('; '), money(priceOf(order, chosen)))}
          disabled={busy}
          onConfirm={() => refund(chosen)}
          testId="ops-refund-chosen"
        />
      )}
      {mayRefund && valid.length > 0 && (
        <ConfirmButton
          texts={refundTexts.all(order.number, money(priceOf(order, valid)))}
          disabled={busy}
          onConfirm={() => refund(valid)}
          testId="ops-refund"
        />
      )}
    </>
  );
}
