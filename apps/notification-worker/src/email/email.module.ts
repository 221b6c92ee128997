import { SendClaims } from '#messaging/inbox/send-claims';
import { CLAIM_LOCK_MS } from '#messaging/sending/call-timeout';
import { publicUrls } from '#platform/config/settings';
import { Module, type DynamicModule } from '@nestjs/common';
import { processorOptions, type WorkerParts } from '../parts.ts';
import type { MailProvider, Mails } from './application/ports.ts';
import { SendMail } from './application/send-mail.ts';
import { EmailProcessor } from './inbound/email.processor.ts';
import { MailboxMails } from './outbound/mailbox-mails.ts';
import { Mailgun } from './outbound/mailgun.ts';
import { ProviderMails } from './outbound/provider-mails.ts';
import { SmtpServer } from './outbound/smtp-server.ts';
import { ticketAttachments } from './outbound/ticket-attachments.ts';

/** How many mails are processed at the same time. The ledger of sends writes many mails in one transaction. */
const MAIL_CONCURRENCY = 100;

/** Everything that processes the queue `email`, from the job to the provider. */
@Module({})
export class EmailModule {
  static register(parts: WorkerParts): DynamicModule {
    const { config } = parts;
    const mails = mailsOf(parts);
    const { publicUrl } = publicUrls(config);
    const links = { ticketsUrl: `${publicUrl}/tickets`, transfersUrl: `${publicUrl}/transfers` };
    const sendMail = new SendMail(mails, links, ticketAttachments);
    const useFactory = (): EmailProcessor =>
      new EmailProcessor(sendMail, mails, MAIL_CONCURRENCY, processorOptions(parts, 'email', ['email']));
    return { module: EmailModule, providers: [{ provide: EmailProcessor, useFactory }], exports: [EmailProcessor] };
  }
}

/** The provider that EMAIL_PROVIDER chooses. Its settings are certainly present: `crossChecks` of the settings requires them. */
function providerOf({ config }: WorkerParts): MailProvider {
  const from = config.MAIL_FROM;
  if (config.EMAIL_PROVIDER === 'smtp') return new SmtpServer({ url: config.SMTP_URL ?? '', from });
  const { MAILGUN_API_BASE: base, MAILGUN_DOMAIN: domain = '', MAILGUN_API_KEY: apiKey = '' } = config;
  return new Mailgun({ base, domain, apiKey, from });
}

function mailsOf(parts: WorkerParts): Mails {
  const { config, inbox, mailbox, statements, marks, possibleDuplicates, logger, limiters } = parts;
  if (config.EMAIL_PROVIDER === 'mailbox') return new MailboxMails(inbox, mailbox, limiters.email);
  const ledger = { consumer: 'email', lockMs: CLAIM_LOCK_MS, marks, possibleDuplicates, logger };
  return new ProviderMails(providerOf(parts), new SendClaims(statements, ledger), limiters.email);
}
