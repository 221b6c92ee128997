import type { Clock } from '#application/clock';
import { writeMail, type MailContent, type MailLinks } from '#domain/notification/mail-templates';
import type { Attachment, SendOutcome, Mails, PrintableTickets } from './ports.ts';

type OtherContent = Exclude<MailContent, { template: 'ticket_delivery' }>;

/** A mail to send: its template with the data, and its recipient. */
export interface SendMailCommand {
  readonly messageId: string;
  readonly to: string;
  readonly userId?: string;
  readonly content: OtherContent | { readonly template: 'ticket_delivery'; readonly payload: PrintableTickets };
  /** After this time the mail is not sent, for example a reminder after the match. */
  readonly usefulUntil?: Date;
}

/** Renders a mail from its template and sends it once. After `usefulUntil` the mail is dropped. */
export class SendMail {
  constructor(
    private readonly mails: Mails,
    private readonly links: MailLinks,
    private readonly clock: Clock,
    private readonly attachmentsOf: (tickets: PrintableTickets) => readonly Attachment[],
  ) {}

  async execute({ messageId, to, userId, content, usefulUntil }: SendMailCommand): Promise<SendOutcome | 'expired'> {
    if (usefulUntil && this.clock.now() >= usefulUntil) return 'expired';
    const { subject, text, html } = writeMail(content, this.links);
    const attachments = content.template === 'ticket_delivery' ? () => this.attachmentsOf(content.payload) : undefined;
    return this.mails.send({ messageId, template: content.template, to, userId, subject, text, html, attachments });
  }
}
