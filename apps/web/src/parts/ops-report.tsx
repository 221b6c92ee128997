import type { OpsMatch } from '#contracts/matches';
import type { OrderStatus } from '#contracts/orders';
import { useAppServices } from '../api/app-services.ts';
import { useLanguage } from '../text/language.tsx';
import { Loading } from './loading.tsx';
import { Notice, ProblemNotice } from './notice.tsx';
import { useLoaded } from './use-loaded.ts';

const refreshMs = 2_000;

/** The sales report of a match, for operators. */
export function OpsReport({ match }: { match: OpsMatch }) {
  const { texts, format } = useLanguage();
  const { api } = useAppServices();
  const { value: report, problem } = useLoaded((signal) => api.opsReport(match.id, signal), match.id, refreshMs);
  if (!report) return problem ? <ProblemNotice problem={problem} /> : <Loading />;
  const { queue } = report;
  const seats = { capacity: report.capacity, available: report.available, held: report.held, sold: report.sold };
  const otherCounts = { blocked: report.blocked, refunded: report.refunded };
  const orders = Object.entries(report.orders) as [OrderStatus, number][];
  return (
    <section aria-label={texts.ops.report} data-testid="ops-report">
      <div className="ops-report-head">
        <h3>{texts.ops.report}</h3>
        <span className="fine-print">{texts.ops.refreshed}</span>
      </div>
      {problem && <ProblemNotice problem={problem} />}
      <dl className="numbers">
        {(Object.keys({ ...seats, ...otherCounts }) as (keyof typeof seats | keyof typeof otherCounts)[]).map((name) => (
          <ReportNumber
            key={name}
            name={name}
            label={texts.ops[name]}
            value={format.number({ ...seats, ...otherCounts }[name])}
          />
        ))}
        <ReportNumber name="revenue" label={texts.ops.revenue} value={format.money(report.revenue_cents, match.currency)} />
        <ReportNumber
          name="orders"
          label={texts.ops.orders}
          value={
            orders.map(([status, count]) => `${format.number(count)} ${texts.order.statuses[status].toLowerCase()}`).join(', ') ||
            '0'
          }
          wide
        />
      </dl>
      {queue && (
        <dl className="numbers numbers-line">
          <ReportNumber name="waiting" label={texts.ops.waiting} value={format.number(queue.waiting)} />
          <ReportNumber name="open_windows" label={texts.ops.openWindows} value={format.number(queue.open_windows)} />
          <ReportNumber name="granted" label={texts.ops.granted} value={format.number(queue.granted)} />
          <ReportNumber name="completed" label={texts.ops.completed} value={format.number(queue.completed)} />
          <ReportNumber name="expired" label={texts.ops.expired} value={format.number(queue.expired)} />
        </dl>
      )}
      {!queue && match.queue_required && <Notice tone="warning">{texts.ops.queueUnknown}</Notice>}
    </section>
  );
}

function ReportNumber({ name, label, value, wide }: { name: string; label: string; value: string; wide?: boolean }) {
  return (
    <div className={wide ? 'number number-wide' : 'number'}>
      <dt>{label}</dt>
      <dd data-testid={`report-${name}`}>{value}</dd>
    </div>
  );
}
