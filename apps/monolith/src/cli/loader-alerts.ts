import type { SourceAlerts } from '#event-loader/adapters/recorded-polls';
import { PostgresJobs } from '#platform/jobs/job-ledger';
import { alertWays } from '#platform/config/settings';
import type { Logger } from '#platform/logging/logger';
import { PostgresOutbox } from '#platform/outbox/postgres-outbox';
import { openDatabase } from '#platform/postgres/database';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import { AlertNotes } from '#platform/sending/alert-notes';
import { Alerts } from '#platform/sending/alerts';
import { TimeOrderedIds } from '#platform/system-clock';
import type { MonolithConfig } from '../config.ts';

/** As background jobs, which the monolith does. The connection is opened for each: most loaders never have anything to tell. */
export function loaderAlerts(config: MonolithConfig, logger: Logger): Alerts {
  const jobs = new PostgresJobs(new PostgresOutbox(), new TimeOrderedIds());
  const withNotes = async <T>(work: (notes: AlertNotes) => Promise<T>): Promise<T> => {
    const dataSource = await openDatabase({ url: config.DATABASE_URL, name: 'loader-alerts', poolSize: 1 });
    try {
      const transactions = new PostgresTransactionManager(dataSource, { deadlineMs: config.REQUEST_DEADLINE_MS });
      return await work(new AlertNotes(dataSource, transactions, jobs));
    } finally {
      await dataSource.destroy();
    }
  };
  return new Alerts(logger, {
    ways: alertWays(config),
    webhookUrl: config.ALERT_WEBHOOK_URL,
    notes: { add: (notes) => withNotes((to) => to.add(notes)), tellOnce: () => withNotes((to) => to.tellOnce()) },
  });
}

/** No address and no header: the name is the configuration's. */
export function sourceAlerts(alerts: Alerts): SourceAlerts {
  return {
    refusal: (source) => tellRefusal(alerts, source),
    breakerOpened: (source) =>
      alerts.raise({
        about: `breaker loader source ${source} opened`,
        text: `event source ${source} failed five times in a row; it is tried again after 1 to 30 s, \`loader:status\` shows why`,
      }),
  };
}

function tellRefusal(alerts: Alerts, source: string): void {
  const text = `Event source ${source} answers 401 or 403: nothing is loaded from it until its headers in LOADER_SOURCES are right and \`loader:run\` is restarted.`;
  alerts.raise({ about: `loader source ${source} refuses`, text });
}
