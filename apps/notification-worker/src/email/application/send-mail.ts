import type { EmailJob } from '#contracts/queue-jobs';
import { orderConfirmation, refund, ticketDelivery, type MailLinks, type MailText } from '#domain/notification/mail-templates';
import type { Delivered, Mails } from './ports.ts';

/** Writes the mail a job asks for and hands it over, once. */
export class SendMail {
  constructor(
    private readonly mails: Mails,
    private readonly links: MailLinks,
  ) {}

  async execute(job: EmailJob): Promise<Delivered> {
    return this.mails.send({
      messageId: job.job_id,
      template: job.template,
      to: job.recipient,
      userId: job.user_id,
      ...this.write(job),
    });
  }

  private write(job: EmailJob): MailText {
    switch (job.template) {
      case 'order_confirmation':
        return orderConfirmation(job.payload, this.links);
      case 'ticket_delivery':
        return ticketDelivery(job.payload, this.links);
      case 'refund':
        return refund(job.payload);
    }
  }
}
