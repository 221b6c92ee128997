import { JOBS_PREFIX } from '#contracts/queue-jobs';
import { publicUrls } from '#platform/config/settings';
import { OldestUnsent } from '#messaging/jobs/oldest-unsent';
import { QueueSizes } from '#messaging/jobs/queue-sizes';
import { SendClaims } from '#messaging/inbox/send-claims';
import { SystemClock } from '#platform/system-clock';
import { Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { Mailbox } from '../mailbox/mailbox.api.ts';
import type { WorkerParts } from '../parts.ts';
import { CLAIM_LOCK_MS } from '#messaging/sending/call-timeout';
import { QueuedJobs } from '#messaging/jobs/queued-jobs';
import { ProviderLimiters } from '../sending/sending.module.ts';
import { Mails, type MailProvider } from './application/ports.ts';
import { SendMail } from './application/send-mail.ts';
import { EmailMetrics } from './inbound/email-metrics.ts';
import { EmailProcessor } from './inbound/email.processor.ts';
import { MailboxMails } from './outbound/mailbox-mails.ts';
import { Mailgun } from './outbound/mailgun.ts';
import { ProviderMails } from './outbound/provider-mails.ts';
import { SmtpServer } from './outbound/smtp-server.ts';
import { ticketAttachments } from './outbound/ticket-attachments.ts';

/**
 * How many mails are processed at the same time. The mailbox needs one pooled database connection for each mail. With a provider
 * the ledger of sends writes many mails in one statement.
 */
const MAIL_CONCURRENCY = { mailbox: 4, provider: 100 };

/** Everything that processes the queue `email`, from the job to the provider. */
@Module({})
export class EmailModule implements OnApplicationShutdown {
  constructor(private readonly mails: Mails) {}

  static register(parts: WorkerParts): DynamicModule {
    const { config, logger, metrics, redis, jobsRedis, alerts } = parts;
    const consumer = {
      connection: jobsRedis,
      retrySeconds: config.NOTIFICATION_RETRY_SECONDS,
      logger,
      alerts,
      concurrency: MAIL_CONCURRENCY[config.EMAIL_PROVIDER === 'mailbox' ? 'mailbox' : 'provider'],
    };
    const links = { ticketsUrl: `${publicUrls(config).publicUrl}/tickets` };
    return {
      module: EmailModule,
      providers: [
        { provide: QueueSizes, useFactory: () => new QueueSizes(redis, JOBS_PREFIX, ['email']) },
        { provide: OldestUnsent, useFactory: () => new OldestUnsent(redis, JOBS_PREFIX, ['email']) },
        {
          provide: Mails,
          inject: [Mailbox, ProviderLimiters],
          useFactory: (mailbox: Mailbox, limiters: ProviderLimiters) => mailsOf(parts, mailbox, limiters),
        },
        {
          provide: EmailProcessor,
          inject: [Mails, QueuedJobs, QueueSizes, OldestUnsent],
          useFactory: (mails: Mails, jobs: QueuedJobs, sizes: QueueSizes, oldest: OldestUnsent) =>
            new EmailProcessor(
              new SendMail(mails, links, new SystemClock(), ticketAttachments),
              new EmailMetrics(metrics.registry, sizes, oldest),
              { ...consumer, jobs, mails },
            ),
        },
      ],
      exports: [EmailProcessor],
    };
  }

  onApplicationShutdown(): void {
    this.mails.close();
  }
}

/** The provider that EMAIL_PROVIDER chooses. Its settings are certainly present: `crossChecks` of the settings requires them. */
function providerOf({ config }: WorkerParts): MailProvider {
  const from = config.MAIL_FROM;
  if (config.EMAIL_PROVIDER === 'smtp') return new SmtpServer({ url: config.SMTP_URL ?? '', from });
  const { MAILGUN_API_BASE: base, MAILGUN_DOMAIN: domain = '', MAILGUN_API_KEY: apiKey = '' } = config;
  return new Mailgun({ base, domain, apiKey, from });
}

function mailsOf(parts: WorkerParts, mailbox: Mailbox, limiters: ProviderLimiters): Mails {
  const { config, inbox, statements, marks, possibleDuplicates, logger } = parts;
  if (config.EMAIL_PROVIDER === 'mailbox') return new MailboxMails(inbox, mailbox);
  const ledger = { consumer: 'email', lockMs: CLAIM_LOCK_MS, marks, possibleDuplicates, logger };
  const claims = new SendClaims(statements, ledger);
  return new ProviderMails(providerOf(parts), claims, limiters.email);
}
