import type { TicketDelivery } from '#domain/notification/mail-templates';

/** A file that is attached to a mail. */
export interface Attachment {
  readonly name: string;
  readonly contentType: string;
  /** May be drawn anew each time that it is read. */
  readonly content: Buffer;
  /** True for an image that the HTML of the mail shows as `cid:` and its name. */
  readonly inline?: boolean;
}

/** A rendered mail. Two mails with the same message id are the same message, even if they come from different jobs. */
export interface OutgoingMail {
  readonly messageId: string;
  readonly template: string;
  readonly to: string;
  readonly userId?: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** A function, so that the files are rendered only when the mail is about to be sent, and not for mails that are too late. */
  readonly attachments?: () => readonly Attachment[];
}

/** The data of a ticket mail, with the signed code of each ticket. */
export type PrintableTickets = Omit<TicketDelivery, 'tickets'> & {
  readonly tickets: readonly (TicketDelivery['tickets'][number] & { readonly code: string })[];
};

/** What a send did: sent the mail, or nothing, because the mail was sent before. */
export type SendOutcome = 'sent' | 'duplicate';

/** Sends each mail once. A second send of the same message returns `duplicate` and has no effect. */
export abstract class Mails {
  abstract send(mail: OutgoingMail): Promise<SendOutcome>;
  /** Resolves when the ledger of sends has stored all completed sends. */
  settled(): Promise<void> {
    return Promise.resolve();
  }
  /** Closes the connections to the provider. */
  close(): void {}
}

/**
 * The external provider that delivers mails. The provider does not recognise duplicates; our ledger of sends (the table `inbox`)
 * does.
 */
export abstract class MailProvider {
  /** Throws a SendFailure, whose class says whether the mail may have been sent. */
  abstract send(mail: OutgoingMail): Promise<void>;
  close(): void {}
}
