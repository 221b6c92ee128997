import type { TicketDelivery } from '#domain/notification/mail-templates';

export interface Attachment {
  readonly name: string;
  readonly contentType: string;
  readonly content: Buffer;
}

/** A rendered mail. Two mails with the same message id are the same message, also if they come from different jobs. */
export interface OutgoingMail {
  readonly messageId: string;
  readonly template: string;
  readonly to: string;
  readonly userId?: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Rendered only when the mail is sent, so that duplicates and delayed mails cost no rendering. */
  readonly attachments?: () => readonly Attachment[];
}

/** The data of a ticket mail, with the code of each ticket. */
export type PrintableTickets = Omit<TicketDelivery, 'tickets'> & {
  readonly tickets: readonly (TicketDelivery['tickets'][number] & { readonly code: string })[];
};

/**
 * Renders tickets as attachments of their mail. The mail contains the tickets themselves, because a fan needs them at the
 * stadium gate.
 */
export abstract class TicketPrints {
  abstract of(delivery: PrintableTickets): readonly Attachment[];
}

export type SendOutcome = 'sent' | 'duplicate';

/** Sends each mail once. A second send of the same message returns `duplicate` and has no effect. */
export abstract class Mails {
  abstract send(mail: OutgoingMail): Promise<SendOutcome>;
  /** Resolves when all completed sends are persisted. */
  settled(): Promise<void> {
    return Promise.resolve();
  }
}

/** The external provider that delivers mails. It does not recognise duplicates; the ledger does that. */
export abstract class MailProvider {
  /** Throws a SendFailure. Its class says whether the mail may have been sent. */
  abstract send(mail: OutgoingMail): Promise<void>;
  close(): void {}
}
