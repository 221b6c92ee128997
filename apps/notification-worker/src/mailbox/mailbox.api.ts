import type { MailboxItem } from '#contracts/mailbox';
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

/** A message with what the HTML page needs in addition: its id, and whether it has HTML. */
export interface MailboxEntry extends MailboxItem {
  readonly id: string;
  readonly hasHtml: boolean;
}

/** Stores messages instead of sending them; the provider of development and tests. */
export abstract class Mailbox {
  /** Stores the messages. `tx` is the transaction that marks the message as sent, so each message is stored exactly once. */
  abstract add(tx: Transaction, messages: readonly MailboxMessage[]): Promise<void>;
  /** Finds messages, newest first. `to` is an address, a user id or a device token. */
  abstract find(filter: { to?: string; template?: string }): Promise<MailboxEntry[]>;
  /** The HTML of a mail. Undefined if the message does not exist or has no HTML. */
  abstract html(id: string): Promise<string | undefined>;
}
