import type { Transaction } from './transaction-manager.ts';

/** A message to another system, complete as it will be delivered. */
export interface OutboxMessage {
  /** Never changes. It is the id of the job, and consumers recognise a repeated message by it. */
  readonly id: string;
  /** A BullMQ queue, or the name of another receiver such as the waiting room or the payment provider. */
  readonly destination: string;
  /** The event that caused the message, for operators and metrics. Example: `order.completed`. */
  readonly event: string;
  /** Messages of one aggregate are delivered in the order in which they were written. Messages without one have no order. */
  readonly aggregateId?: string;
  readonly body: unknown;
  /**
   * Marks the messages of one broadcast. They have no aggregate and the same body, except for `job_id` (the message id) and `range`.
   * So the relay can deliver many of them as one bundle.
   */
  readonly series?: string;
  /** Minimum delay before the message is delivered. */
  readonly afterSeconds?: number;
}

/** Messages appended here are delivered at least once if the transaction commits, and never if it does not. */
export abstract class Outbox {
  abstract append(tx: Transaction, messages: readonly OutboxMessage[]): Promise<void>;
}
