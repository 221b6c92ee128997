import { writeMail, type MailContent, type MailLinks } from '#domain/notification/mail-templates';
import type { Delivered, Mails } from './ports.ts';

export interface SendMailCommand {
  readonly messageId: string;
  readonly to: string;
  readonly userId?: string;
  readonly content: MailContent;
}

/** Writes a mail from its template and hands it over, once. */
export class SendMail {
  constructor(
    private readonly mails: Mails,
    private readonly links: MailLinks,
  ) {}

  async execute({ messageId, to, userId, content }: SendMailCommand): Promise<Delivered> {
    return this.mails.send({ messageId, template: content.template, to, userId, ...writeMail(content, this.links) });
  }
}
