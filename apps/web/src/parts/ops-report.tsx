import type { OpsMatch } from '#contracts/matches';
import type { OrderStatus } from '#contracts/orders';
import { useAppServices } from '../api/app-services.ts';
import { type StaffTexts, useStaffLanguage } from '../text/staff-language.ts';
import { Loading, Notice, ProblemNotice } from './notice.tsx';
import { useLoaded } from './use-loaded.ts';

const refreshMs = 2_000;
const seatCounts = ['capacity', 'available', 'held', 'sold', 'blocked', 'refunded'] as const;
const queueCounts = ['waiting', 'open_windows', 'granted', 'completed', 'expired'] as const;

/** The sales report of a match, for operators. */
export function OpsReport({ match }: { match: OpsMatch }) {
  const { texts, format } = useStaffLanguage();
  const { api } = useAppServices();
  const { value: report, problem } = useLoaded((signal) => api.opsReport(match.id, signal), match.id, refreshMs);
  if (!report) return problem ? <ProblemNotice problem={problem} /> : <Loading />;
  const { queue } = report;
  const orders = Object.entries(report.orders) as [OrderStatus, number][];
  const orderCounts = orders.map(([status, n]) => `${format.number(n)} ${texts.order.statuses[status].toLowerCase()}`);
  return (
    <section aria-label={texts.ops.report.title} data-testid="ops-report">
      <div className="ops-report-head">
        <h3>{texts.ops.report.title}</h3>
        <span className="fine-print">{texts.ops.report.refreshed}</span>
      </div>
      {problem && <ProblemNotice problem={problem} />}
      <dl className="numbers">
        {seatCounts.map((name) => (
          <ReportNumber key={name} name={name} value={format.number(report[name])} />
        ))}
        <ReportNumber name="revenue" value={format.money(report.revenue_cents, match.currency)} />
        <ReportNumber name="orders" value={orderCounts.join(', ') || '0'} wide />
      </dl>
      {queue && (
        <dl className="numbers numbers-line">
          {queueCounts.map((name) => (
            <ReportNumber key={name} name={name} value={format.number(queue[name])} />
          ))}
        </dl>
      )}
      {!queue && match.queue_required && <Notice tone="warning">{texts.ops.report.queueUnknown}</Notice>}
    </section>
  );
}

function ReportNumber({ name, value, wide }: { name: keyof StaffTexts['ops']['numbers']; value: string; wide?: boolean }) {
  const { texts } = useStaffLanguage();
  return (
    <div className={wide ? 'number number-wide' : 'number'}>
      <dt>{texts.ops.numbers[name]}</dt>
      <dd data-testid={`report-${name}`}>{value}</dd>
    </div>
  );
}
