/** One notification for the devices of one fan. */
export interface OutgoingPush {
  readonly messageId: string;
  readonly template: string;
  readonly userId: string;
  /** At most 500. */
  readonly tokens: readonly string[];
  readonly title: string;
  readonly body: string;
}

export type Delivered = 'sent' | 'duplicate';

/** Where pushes go. The same message a second time is `duplicate` and reaches no device. */
export abstract class Pushes {
  abstract send(push: OutgoingPush): Promise<Delivered>;
}
