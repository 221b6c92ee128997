import type { Transaction } from '#application/transaction-manager';

/** What would have left the house, had a provider been set. */
export interface MailboxMessage {
  readonly channel: 'email' | 'push';
  /** Address of a mail, token of a push. */
  readonly recipient: string;
  readonly userId?: string;
  readonly template: string;
  readonly subject: string;
  readonly text: string;
  /** Mails only. */
  readonly html?: string;
  /** Names of the files that came with it. */
  readonly attachments?: readonly string[];
}

export interface MailboxItem {
  readonly channel: string;
  readonly to: string;
  readonly user_id: string | null;
  readonly template: string;
  readonly subject: string;
  readonly text: string;
  readonly attachments: readonly string[];
  readonly sent_at: string;
}

/** A message as the page needs it: where its HTML is, if it has any. */
export interface MailboxEntry extends MailboxItem {
  readonly id: string;
  readonly hasHtml: boolean;
}

/** The provider of development and tests: kept here instead of sent into the world. */
export abstract class Mailbox {
  /** In the transaction that remembers the message, so that a message is kept exactly once. */
  abstract keep(tx: Transaction, messages: readonly MailboxMessage[]): Promise<void>;
  /** Newest first; `to` is an address, a user id or a token. */
  abstract find(filter: { to?: string; template?: string }): Promise<MailboxEntry[]>;
  /** The mail as mail programs show it. */
  abstract html(id: string): Promise<string | undefined>;
}
