import { Histogram, type MetricObjectWithValues, type MetricValueWithName } from 'prom-client';
import type { Metrics } from '#platform/health/metrics';
import type { JoinCounts, LineReporter } from '../application/ports.ts';

const NAME = 'queue_joins_by_address';
const HELP =
  'Addresses by the number of their joins in the first minute after the opening of a line. The values are those of now: do not use rate(). One pod reports it for all.';

/** The metric `queue_joins_by_address`: a histogram of addresses, without the addresses. All pods count together, in Redis. */
export class JoinsByAddressMetric extends Histogram<'match_id'> {
  constructor(
    { registry }: Metrics,
    private readonly counts: JoinCounts,
    private readonly reporter: LineReporter,
  ) {
    super({ name: NAME, help: HELP, labelNames: ['match_id'], registers: [registry] });
  }

  /** The registry calls this method instead of `get`, which it has for other formats. */
  getForPromString(): Promise<MetricObjectWithValues<MetricValueWithName<string>>> {
    return this.get();
  }

  /** Empty if another pod reports, and while Redis is down. */
  override async get(): Promise<MetricObjectWithValues<MetricValueWithName<string>>> {
    const isReporter = await this.reporter.claim().catch(() => false);
    const openings = isReporter ? await this.counts.read().catch(() => []) : [];
    const values = openings.flatMap(({ match, addresses, joins }) => {
      let count = 0;
      const labels = { match_id: match };
      const buckets = addresses.map(({ upTo, count: more }) => {
        count += more;
        return { metricName: `${NAME}_bucket`, labels: { le: upTo === Infinity ? '+Inf' : upTo, ...labels }, value: count };
      });
      return [
        ...buckets,
        { metricName: `${NAME}_sum`, labels, value: joins },
        { metricName: `${NAME}_count`, labels, value: count },
      ];
    });
    const metric = { name: NAME, help: HELP, type: 'histogram', aggregator: 'sum', values };
    return metric as unknown as MetricObjectWithValues<MetricValueWithName<string>>;
  }
}
