import type { Transaction } from '#application/transaction-manager';

/** A message that would have been sent if a real provider were configured. */
export interface MailboxMessage {
  readonly channel: 'email' | 'push';
  /** The address of a mail, or the device token of a push. */
  readonly recipient: string;
  readonly userId?: string;
  readonly template: string;
  readonly subject: string;
  readonly text: string;
  /** Only mails have HTML. */
  readonly html?: string;
  /** Names of the attached files. */
  readonly attachments?: readonly string[];
}

/** Stores messages instead of sending them; the provider of development and tests. */
export interface Mailbox {
  /** Stores the messages. `tx` is the transaction that marks the message as sent, so each message is stored exactly once. */
  add(tx: Transaction, messages: readonly MailboxMessage[]): Promise<void>;
}
