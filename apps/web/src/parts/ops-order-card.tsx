import type { OpsOrder } from '#contracts/orders';
import { useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { ConfirmButton } from './button.tsx';
import { Notice, ProblemNotice } from './notice.tsx';
import { useMay } from './role-needed.tsx';
import { useAction } from './use-action.ts';

/** The last eight digits of a ticket's id. Mails name tickets in the same way. */
const shortId = (ticketId: string) => ticketId.replaceAll('-', '').slice(-8).toUpperCase();

/** An order for operators, with the refund of its tickets. */
export function OpsOrderCard({ order, onChange }: { order: OpsOrder; onChange: () => void }) {
  const { texts, format } = useStaffLanguage();
  const { api } = useAppServices();
  const { busy, problem, run } = useAction();
  const [refundedCents, setRefundedCents] = useState<number>();
  const mayRefund = useMay('ops:money');
  const valid = order.tickets.filter(({ status }) => status === 'valid');

  const refund = (ticketIds?: string[]) =>
    void run(async () => {
      const { refund: done } = await api.opsRefund(order.id, ticketIds);
      setRefundedCents(done.amount_cents);
      onChange();
    });

  const money = (cents: number) => format.money(cents, order.currency);
  return (
    <li className="ops-order" data-testid="ops-order">
      <p>
        <strong>{order.number}</strong> · {order.email} · {money(order.total_cents)} · {texts.order.statuses[order.status]}
      </p>
      {problem && <ProblemNotice problem={problem} />}
      {refundedCents !== undefined && (
        <Notice tone="good" testId="ops-refunded">
          {texts.ops.refund.done(money(refundedCents))}
        </Notice>
      )}
      <ul className="ops-tickets">
        {order.tickets.map(({ id, status }) => (
          <li key={id}>
            <span>
              {texts.ops.refund.ticket(shortId(id))} · {texts.tickets.statuses[status]}
            </span>
            {mayRefund && status === 'valid' && valid.length > 1 && (
              <ConfirmButton
                texts={texts.ops.refund.one(shortId(id))}
                disabled={busy}
                onConfirm={() => refund([id])}
                testId="ops-refund-one"
              />
            )}
          </li>
        ))}
      </ul>
      {mayRefund && order.status === 'completed' && valid.length > 0 && (
        <ConfirmButton
          texts={texts.ops.refund.all(order.number)}
          disabled={busy}
          onConfirm={() => refund()}
          testId="ops-refund"
        />
      )}
    </li>
  );
}
