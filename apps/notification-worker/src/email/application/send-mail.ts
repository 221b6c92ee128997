import type { Clock } from '#application/clock';
import { writeMail, type MailContent, type MailLinks } from '#domain/notification/mail-templates';
import type { Delivered, Mails } from './ports.ts';

export interface SendMailCommand {
  readonly messageId: string;
  readonly to: string;
  readonly userId?: string;
  readonly content: MailContent;
  /** After this the message is worthless: no reminder after the match. */
  readonly usefulUntil?: Date;
}

/** Writes a mail from its template and hands it over, once, and only while it is worth something. */
export class SendMail {
  constructor(
    private readonly mails: Mails,
    private readonly links: MailLinks,
    private readonly clock: Clock,
  ) {}

  async execute({ messageId, to, userId, content, usefulUntil }: SendMailCommand): Promise<Delivered | 'expired'> {
    if (usefulUntil && this.clock.now() >= usefulUntil) return 'expired';
    return this.mails.send({ messageId, template: content.template, to, userId, ...writeMail(content, this.links) });
  }
}
