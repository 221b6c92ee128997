import type { SourceAlerts } from '#event-loader/adapters/recorded-polls';
import { PostgresJobs } from '#messaging/jobs/job-ledger';
import { alertChannels } from '#platform/config/alert-channels';
import type { Logger } from '#platform/logging/logger';
import { PostgresOutbox } from '#messaging/outbox/postgres-outbox';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import { AlertNotes } from '#messaging/sending/alert-notes';
import { Alerts } from '#messaging/sending/alerts';
import { TimeOrderedIds } from '#platform/system-clock';
import type { LoaderConfig } from '../config.ts';
import { withDatabase } from './environment.ts';

/**
 * The event loader's alerts become background jobs, which the monolith delivers to the operators. A database connection is opened
 * for each alert, because most loaders never raise an alert.
 */
export function loaderAlerts(config: LoaderConfig, logger: Logger): Alerts {
  const jobs = new PostgresJobs(new PostgresOutbox(), new TimeOrderedIds());
  const withNotes = <T>(work: (notes: AlertNotes) => Promise<T>): Promise<T> =>
    withDatabase(
      config.DATABASE_URL,
      (dataSource) => {
        const transactions = new PostgresTransactionManager(dataSource, { deadlineMs: config.REQUEST_DEADLINE_MS });
        return work(new AlertNotes(dataSource, transactions, jobs));
      },
      'loader-alerts',
    );
  return new Alerts(logger, {
    ways: alertChannels(config),
    webhookUrl: config.ALERT_WEBHOOK_URL,
    notes: { add: (notes) => withNotes((to) => to.add(notes)), createDueAlerts: () => withNotes((to) => to.createDueAlerts()) },
  });
}

/**
 * Alerts about event sources. An alert names the source as LOADER_SOURCES does. It contains no URL and no header, because URLs
 * and headers may hold secrets.
 */
export function sourceAlerts(alerts: Alerts): SourceAlerts {
  return {
    refusal: (source) =>
      alerts.raise({
        about: `loader source ${source} refuses`,
        text: `Event source ${source} answers 401 or 403: nothing is loaded from it until its headers in LOADER_SOURCES are right and \`loader:run\` is restarted.`,
      }),
    breakerOpened: (source) =>
      alerts.raise({
        about: `breaker loader source ${source} opened`,
        text: `event source ${source} failed five times in a row; the loader tries again after 1 to 30 s. \`loader:status\` shows the last error`,
      }),
  };
}
