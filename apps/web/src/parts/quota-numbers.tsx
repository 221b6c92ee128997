import type { QuotaCounts } from '#contracts/quotas';
import { useStaffLanguage } from '../text/staff-language.ts';
import { QuotaParts } from './quota-bar.tsx';

const states = ['free', 'invited', 'held', 'sold'] as const satisfies readonly (keyof QuotaCounts)[];

/** How many places of a quota are in each state: as a bar, and as a list of numbers. */
export function QuotaNumbers({ places }: { places: QuotaCounts }) {
  const { texts, format } = useStaffLanguage();
  const { numbers } = texts.quotas;
  return (
    <div className="partner-numbers">
      <QuotaParts counts={places} />
      <dl className="partner-counts" aria-label={numbers.label}>
        <div>
          <dt>{numbers.total}</dt>
          <dd data-testid="quota-total">{format.number(places.total)}</dd>
        </div>
        {states.map((state) => (
          <div key={state}>
            <dt>
              <span className={`partner-sign quota-part-${state}`} aria-hidden="true" />
              {texts.opsQuotas.states[state]}
            </dt>
            <dd data-testid={`quota-${state}`}>{format.number(places[state])}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
