import type { Origin } from './origin.ts';
import type { Transaction } from './transaction-manager.ts';

/** A message to another system, with the content that will be delivered. */
export interface OutboxMessage {
  /** Never changes. The message becomes a job with this id, and its consumers recognise a repeated message by it. */
  readonly id: string;
  /**
   * Where the message goes: the name of a BullMQ queue, or of another receiver such as the waiting room or the payment provider.
   */
  readonly destination: string;
  /** The event that caused the message, for operators and metrics. Example: `order.completed`. */
  readonly event: string;
  /**
   * The object whose messages must keep their order, for example an order: messages with the same aggregate are delivered in the
   * order in which they were written. Messages without an aggregate have no order.
   */
  readonly aggregateId?: string;
  readonly body: unknown;
  /**
   * Marks the messages of one broadcast (a message to all ticket holders of a match). They have no aggregate, and all have the
   * same body except for `job_id` (the message id) and `range`. So the relay can deliver many of them as one bundle.
   */
  readonly series?: string;
  /** Minimum delay before the message is delivered. */
  readonly afterSeconds?: number;
  /**
   * Where the message comes from, if it is not the current request or job. A transaction that commands of several requests share
   * has no current request, so its messages name their origin.
   */
  readonly origin?: Origin | undefined;
}

/**
 * Stores messages in the transaction of their effect. They are delivered at least once if the transaction commits, and never if
 * it rolls back.
 */
export abstract class Outbox {
  abstract append(tx: Transaction, messages: readonly OutboxMessage[]): Promise<void>;
}
