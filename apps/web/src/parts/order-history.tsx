import type { Order } from '#contracts/orders';
import { useLanguage } from '../text/language.tsx';

/** What has happened to an order, with the times. */
export function OrderHistory({ order }: { order: Order }) {
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
