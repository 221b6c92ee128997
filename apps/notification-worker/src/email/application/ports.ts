import type { TicketDelivery } from '#domain/notification/mail-templates';

export interface Attachment {
  readonly name: string;
  readonly contentType: string;
  readonly content: Buffer;
}

/** A finished mail; the message id is its identity, whatever brought it. */
export interface OutgoingMail {
  readonly messageId: string;
  readonly template: string;
  readonly to: string;
  readonly userId?: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Drawn when the mail leaves: of what is a duplicate or held back, and of what a provider refuses, nothing is needed twice. */
  readonly attachments?: () => readonly Attachment[];
}

/** What a ticket's mail is written from, and the text of each ticket's code. */
export type PrintableTickets = Omit<TicketDelivery, 'tickets'> & {
  readonly tickets: readonly (TicketDelivery['tickets'][number] & { readonly code: string })[];
};

/** The tickets themselves, to be attached to their mail: no link opens a gate. */
export abstract class TicketPrints {
  abstract of(delivery: PrintableTickets): readonly Attachment[];
}

export type Delivered = 'sent' | 'duplicate';

/** Where mails go, once: the same message a second time is `duplicate` and leaves nothing behind. */
export abstract class Mails {
  abstract send(mail: OutgoingMail): Promise<Delivered>;
  /** When nothing that left is still being written down. */
  settled(): Promise<void> {
    return Promise.resolve();
  }
}

/** Who carries mails into the world. It does not know what it was given before: once is the ledger's business. */
export abstract class MailProvider {
  /** Throws a SendFailure that says whether the mail may have left. */
  abstract send(mail: OutgoingMail): Promise<void>;
  close(): void {}
}
