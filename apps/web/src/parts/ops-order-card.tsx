import type { OpsOrder } from '#contracts/orders';
import { useStaffLanguage } from '../text/staff-language.ts';
import { OpsOrderBlacklist } from './ops-order-blacklist.tsx';
import { OpsOrderRefund } from './ops-order-refund.tsx';

/** An order for operators: its tickets by seat and holder, their refund, and the blacklist for the fan who bought it. */
export function OpsOrderCard({ order, onChange }: { order: OpsOrder; onChange: () => void }) {
  const { texts, format } = useStaffLanguage();
  return (
    <li className="ops-order" data-testid="ops-order">
      <p>
        <strong>{order.number}</strong> · {order.email} · {format.money(order.total_cents, order.currency)} ·{' '}
        {texts.order.statuses[order.status]}
      </p>
      <OpsOrderRefund order={order} onChange={onChange} />
      <OpsOrderBlacklist order={order} />
    </li>
  );
}
