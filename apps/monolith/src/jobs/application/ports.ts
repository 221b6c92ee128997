import type { Transaction } from '#application/transaction-manager';
import type { AlertOperators } from '#domain/notification/alert-operators';
import type { JobCounts, JobFilter, JobView } from '../jobs.api.ts';

/** The jobs of all queues: mails, pushes, general jobs (all other background jobs) and parked outbox messages. */
export abstract class AllQueues {
  /** The jobs that match the filter, newest first, at most `filter.limit`. */
  abstract list(filter: JobFilter): Promise<readonly JobView[]>;
  abstract find(id: string): Promise<JobView | undefined>;
  abstract counts(): Promise<readonly JobCounts[]>;
  /**
   * Retries a failed job. The retry starts only if the transaction commits. Returns false if the job is no longer failed or
   * parked.
   */
  abstract retry(tx: Transaction, job: JobView, by: string): Promise<boolean>;
  /**
   * Deletes, in the transaction, what PostgreSQL has stored about the job. Returns a function that removes the job from its
   * queue: call it after the commit. Returns undefined if the job is no longer waiting or failed.
   */
  abstract drop(tx: Transaction, job: JobView, by: string): Promise<(() => Promise<void>) | undefined>;
}

/** Writes mails to the operators. The mails are sent only if the transaction commits. */
export abstract class OperatorsMails {
  abstract send(tx: Transaction, alert: AlertOperators): Promise<void>;
}

/** The operators' webhook, which receives alerts. */
export abstract class OperatorsWebhook {
  /** Throws if the webhook did not accept the alert. An alert may be sent twice, with the same `alertId`. */
  abstract send(alert: AlertOperators, alertId: string): Promise<void>;
}
