import type { QuotaCounts } from '#contracts/quotas';
import { useLanguage } from '../text/language.tsx';

/** The states of a place, in the order of the bar: from what is done to what is left. */
const states = ['sold', 'held', 'invited', 'free'] as const satisfies readonly (keyof QuotaCounts)[];

/** How many places of a quota are in each state: as a bar, and as numbers. */
export function QuotaNumbers({ places }: { places: QuotaCounts }) {
  const { texts, format } = useLanguage();
  const { numbers } = texts.quotas;
  let start = 0;
  return (
    <div className="quota-numbers">
      <svg className="quota-bar" viewBox={`0 0 ${Math.max(1, places.total)} 1`} preserveAspectRatio="none" aria-hidden="true">
        {states.map((state) => {
          const x = start;
          start += places[state];
          return <rect key={state} className={`quota-part quota-part-${state}`} x={x} y="0" width={places[state]} height="1" />;
        })}
      </svg>
      <dl className="quota-counts" aria-label={numbers.label}>
        <div>
          <dt>{numbers.total}</dt>
          <dd data-testid="quota-total">{format.number(places.total)}</dd>
        </div>
        {states.toReversed().map((state) => (
          <div key={state}>
            <dt>
              <span className={`quota-sign quota-part-${state}`} aria-hidden="true" />
              {numbers[state]}
            </dt>
            <dd data-testid={`quota-${state}`}>{format.number(places[state])}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
