import { JOBS_PREFIX } from '#contracts/queue-jobs';
import { publicUrls } from '#platform/config/settings';
import { QueueSizes } from '#platform/jobs/queue-sizes';
import { Module, type DynamicModule } from '@nestjs/common';
import { Mailbox } from '../mailbox/mailbox.api.ts';
import type { WorkerParts } from '../parts.ts';
import { Mails } from './application/ports.ts';
import { SendMail } from './application/send-mail.ts';
import { EmailMetrics } from './inbound/email-metrics.ts';
import { EmailProcessor } from './inbound/email.processor.ts';
import { MailboxMails } from './outbound/mailbox-mails.ts';

/** The queue `email`, from the job to the provider. */
@Module({})
export class EmailModule {
  static register({ config, logger, metrics, inbox, redis, jobsRedis }: WorkerParts): DynamicModule {
    const consumer = { connection: jobsRedis, retrySeconds: config.NOTIFICATION_RETRY_SECONDS, logger };
    const links = { ticketsUrl: `${publicUrls(config).publicUrl}/tickets` };
    return {
      module: EmailModule,
      providers: [
        { provide: QueueSizes, useFactory: () => new QueueSizes(redis, JOBS_PREFIX, ['email']) },
        {
          provide: EmailMetrics,
          inject: [QueueSizes],
          useFactory: (sizes: QueueSizes) => new EmailMetrics(metrics.registry, sizes),
        },
        { provide: Mails, inject: [Mailbox], useFactory: (mailbox: Mailbox) => new MailboxMails(inbox, mailbox) },
        { provide: SendMail, inject: [Mails], useFactory: (mails: Mails) => new SendMail(mails, links) },
        {
          provide: EmailProcessor,
          inject: [SendMail, EmailMetrics],
          useFactory: (sendMail: SendMail, counts: EmailMetrics) => new EmailProcessor(sendMail, counts, consumer),
        },
      ],
    };
  }
}
