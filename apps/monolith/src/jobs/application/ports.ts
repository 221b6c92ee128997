import type { Transaction } from '#application/transaction-manager';
import type { AlertOperators } from '#domain/notification/alert-operators';
import type { JobCounts, JobFilter, JobView } from '../jobs.api.ts';

/** Every queue there is: mails, pushes, and the general jobs. */
export abstract class AllQueues {
  /** Newest first; at most so many. */
  abstract list(filter: JobFilter): Promise<readonly JobView[]>;
  abstract find(id: string): Promise<JobView | undefined>;
  abstract counts(): Promise<readonly JobCounts[]>;
  /** Leaves with the transaction; false when it is not set aside any more. */
  abstract retry(tx: Transaction, job: JobView, by: string): Promise<boolean>;
  /** In the transaction as far as it can be; what is called afterwards takes it out of its queue. */
  abstract drop(tx: Transaction, job: JobView, by: string): Promise<(() => Promise<void>) | undefined>;
}

/** Mails to the operators; they leave with the transaction. */
export abstract class OperatorsMails {
  abstract send(tx: Transaction, alert: AlertOperators): Promise<void>;
}

/** Where operators hear of what needs them. */
export abstract class OperatorsWebhook {
  /** Throws when nobody took it. At least once: `alertId` is the same for a repetition. */
  abstract tell(alert: AlertOperators, alertId: string): Promise<void>;
}
