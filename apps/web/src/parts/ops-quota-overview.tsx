import type { Allocation } from '#contracts/quotas';
import type { Problem } from '../api/problem.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Loading, ProblemNotice } from './notice.tsx';
import { QuotaBar, QuotaLegend } from './quota-bar.tsx';

interface OpsQuotaOverviewProps {
  allocation: Allocation | undefined;
  problem: Problem | undefined;
  onRetry: () => void;
}

/** The capacity of the match, the part of the public and that of all quotas, and the legend of the bars. */
export function OpsQuotaOverview({ allocation, problem, onRetry }: OpsQuotaOverviewProps) {
  const { texts, format } = useStaffLanguage();
  const { overview } = texts.opsQuotas;
  const sum = (of: 'total' | 'returned') => (allocation?.quotas ?? []).reduce((total, kind) => total + kind[of], 0);
  const numbers = allocation && [
    { name: overview.capacity, value: allocation.capacity },
    { name: overview.publicPart, value: allocation.public.total },
    { name: overview.inQuotas, value: sum('total') },
    { name: overview.given, value: sum('returned') },
  ];
  return (
    <section className="card quota-overview" aria-labelledby="quota-overview">
      <div className="ops-report-head">
        <h2 id="quota-overview">{overview.title}</h2>
        <span className="fine-print">{overview.refreshed}</span>
      </div>
      {!allocation && <Loading problem={problem} onRetry={onRetry} />}
      {allocation && problem && <ProblemNotice problem={problem} />}
      {allocation && numbers && (
        <>
          <dl className="numbers" data-testid="quota-overview">
            {numbers.map(({ name, value }) => (
              <div key={name} className="number">
                <dt>{name}</dt>
                <dd>{format.number(value)}</dd>
              </div>
            ))}
          </dl>
          <QuotaBar label={overview.publicPart} counts={publicCounts(allocation.public)} />
        </>
      )}
      <QuotaLegend />
    </section>
  );
}

/** Nothing of the public is invited. Places that a ticket partner has sold outside are only in the total. */
const publicCounts = ({ total, available, held, sold }: Allocation['public']) => ({
  total,
  free: available,
  invited: 0,
  held,
  sold,
});
