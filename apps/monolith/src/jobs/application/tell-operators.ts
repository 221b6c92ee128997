import { JobHandler } from '#application/jobs';
import type { AlertOperators } from '#domain/notification/alert-operators';
import type { OperatorsWebhook } from './ports.ts';

/** Calls whoever is on duty. As a job: an alert survives the crash it may be about, and is tried again when nobody answers. */
export class TellOperators extends JobHandler<AlertOperators, void> {
  readonly class = 'alert_operators';

  constructor(private readonly webhook: OperatorsWebhook) {
    super();
  }

  async prepare(alert: AlertOperators, jobId: string): Promise<void> {
    await this.webhook.tell(alert, jobId);
  }

  async work(): Promise<void> {
    // Told already; that it was is all there is to commit.
  }
}
