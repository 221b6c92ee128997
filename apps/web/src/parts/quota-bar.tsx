import type { QuotaCounts } from '#contracts/quotas';
import { useStaffLanguage } from '../text/staff-language.ts';

const states = ['sold', 'held', 'invited', 'free'] as const satisfies readonly (keyof QuotaCounts)[];

/**
 * How many of some places are sold, on hold, invited and free: as a bar and as a text. The parts of the bar differ by colour and by
 * pattern. Screen readers read the text.
 */
export function QuotaBar({ counts, label }: { counts: QuotaCounts; label?: string }) {
  const { texts, format } = useStaffLanguage();
  const { places, states: names } = texts.opsQuotas;
  const shown = states.filter((state) => counts[state] > 0);
  const numbers = [...shown].reverse().map((state) => `${format.number(counts[state])} ${names[state]}`);
  return (
    <div className="quota-bar-box">
      <QuotaParts counts={counts} />
      <p className="quota-numbers" data-testid="quota-numbers">
        {label && <span className="quota-numbers-label">{label}: </span>}
        <strong>{places(counts.total, format.number(counts.total))}</strong>
        {numbers.length > 0 && `: ${numbers.join(', ')}`}
      </p>
    </div>
  );
}

/** The bar alone, for a place where its numbers are shown too. */
export function QuotaParts({ counts }: { counts: QuotaCounts }) {
  return (
    <div className="quota-bar" aria-hidden="true">
      {states
        .filter((state) => counts[state] > 0)
        .map((state) => (
          <span
            key={state}
            className={`quota-part quota-part-${state}`}
            style={{ flexGrow: counts[state] }}
            data-state={state}
            data-count={counts[state]}
          />
        ))}
    </div>
  );
}

/** What the parts of the bars mean. */
export function QuotaLegend() {
  const { texts } = useStaffLanguage();
  return (
    <ul className="quota-legend" aria-label={texts.opsQuotas.overview.legend} data-testid="quota-legend">
      {states.map((state) => (
        <li key={state}>
          <span className={`quota-part quota-part-${state}`} aria-hidden="true" />
          {texts.opsQuotas.states[state]}
        </li>
      ))}
    </ul>
  );
}
