import { PostgresJobs } from '#platform/jobs/job-ledger';
import { alertWays } from '#platform/config/settings';
import type { Logger } from '#platform/logging/logger';
import { PostgresOutbox } from '#platform/outbox/postgres-outbox';
import { openDatabase } from '#platform/postgres/database';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import { Alerts } from '#platform/sending/alerts';
import { TimeOrderedIds } from '#platform/system-clock';
import type { MonolithConfig } from '../config.ts';

/** As background jobs, which the monolith does. The connection is opened for each: most loaders never have anything to tell. */
export function loaderAlerts(config: MonolithConfig, logger: Logger): Alerts {
  const jobs = new PostgresJobs(new PostgresOutbox(), new TimeOrderedIds());
  return new Alerts(logger, {
    ways: alertWays(config),
    ...(config.ALERT_WEBHOOK_URL ? { webhookUrl: config.ALERT_WEBHOOK_URL } : {}),
    keep: async (alerts) => {
      const dataSource = await openDatabase({ url: config.DATABASE_URL, name: 'loader-alerts', poolSize: 1 });
      try {
        const transactions = new PostgresTransactionManager(dataSource, { deadlineMs: config.REQUEST_DEADLINE_MS });
        await transactions.run((tx) => jobs.put(tx, alerts));
      } finally {
        await dataSource.destroy();
      }
    },
  });
}

/** No address and no header: the name is the configuration's. */
export function tellRefusal(alerts: Alerts, source: string): void {
  const text = `Event source ${source} answers 401 or 403: nothing is loaded from it until its headers in LOADER_SOURCES are right and \`loader:run\` is restarted.`;
  alerts.raise({ about: `loader source ${source} refuses`, text });
}
