/** A finished mail; the message id is its identity, whatever brought it. */
export interface OutgoingMail {
  readonly messageId: string;
  readonly template: string;
  readonly to: string;
  readonly userId?: string;
  readonly subject: string;
  readonly text: string;
}

export type Delivered = 'sent' | 'duplicate';

/** Where mails go. The same message a second time is `duplicate` and leaves nothing behind. */
export abstract class Mails {
  abstract send(mail: OutgoingMail): Promise<Delivered>;
}
