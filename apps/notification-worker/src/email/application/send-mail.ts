import { writeMail, type MailContent, type MailLinks } from '#domain/notification/mail-templates';
import type { Attachment, SendOutcome, Mails, PrintableTickets } from './ports.ts';

type OtherContent = Exclude<MailContent, { template: 'ticket_delivery' }>;

/** A mail to send: its template with the data, and its recipient. */
export interface SendMailCommand {
  readonly messageId: string;
  readonly to: string;
  readonly userId?: string;
  readonly content: OtherContent | { readonly template: 'ticket_delivery'; readonly payload: PrintableTickets };
}

/** Renders a mail from its template and sends it once. */
export class SendMail {
  constructor(
    private readonly mails: Mails,
    private readonly links: MailLinks,
    private readonly attachmentsOf: (tickets: PrintableTickets) => readonly Attachment[],
  ) {}

  execute({ messageId, to, userId, content }: SendMailCommand): Promise<SendOutcome> {
    const { subject, text, html } = writeMail(content, this.links);
    const attachments = content.template === 'ticket_delivery' ? () => this.attachmentsOf(content.payload) : undefined;
    return this.mails.send({ messageId, template: content.template, to, userId, subject, text, html, attachments });
  }
}
