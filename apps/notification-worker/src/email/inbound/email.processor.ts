import { emailJob, type EmailJob } from '#contracts/queue-jobs';
import type { OnApplicationShutdown } from '@nestjs/common';
import { QueueProcessor, type ProcessorOptions } from '#messaging/sending/queue-processor';
import type { Mails } from '../application/ports.ts';
import type { SendMail } from '../application/send-mail.ts';

/** Processes the jobs of the queue `email`. */
export class EmailProcessor extends QueueProcessor<'email', EmailJob> implements OnApplicationShutdown {
  constructor(
    private readonly sendMail: SendMail,
    private readonly mails: Mails,
    concurrency: number,
    options: ProcessorOptions,
  ) {
    super(emailJob, { email: concurrency }, options);
  }

  override async beforeApplicationShutdown(): Promise<void> {
    await super.beforeApplicationShutdown();
    await this.mails.settled();
  }

  onApplicationShutdown(): void {
    this.mails.close();
  }

  protected handle(job: EmailJob): Promise<string> {
    return this.sendIfUseful(job, async () => {
      const { job_id: messageId, recipient: to, user_id: userId } = job;
      const outcome = await this.sendMail.execute({ messageId, to, userId, content: job });
      if (outcome === 'sent') this.options.metrics.count('sent', job.template);
      return outcome;
    });
  }
}
