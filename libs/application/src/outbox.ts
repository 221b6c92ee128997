import type { Transaction } from './transaction-manager.ts';

/** One message to the outside, ready as it will be delivered. */
export interface OutboxMessage {
  /** Names the message for ever: the job's id, and what every consumer recognises a repetition by. */
  readonly id: string;
  /** Where it goes: a BullMQ queue, or another service's own door. */
  readonly destination: string;
  /** The event it stems from, for people and metrics: `order.completed`. */
  readonly event: string;
  /** Messages of one aggregate leave in the order they were written; without one, in any order. */
  readonly aggregateId?: string;
  readonly body: unknown;
  /**
   * Messages of one series have no aggregate and the same body but for `job_id` (their id) and `range`, so that very many of
   * them can be handed over as one.
   */
  readonly series?: string;
  /** It stays here for so long before it leaves. */
  readonly afterSeconds?: number;
}

/** Messages written here leave if, and only if, the transaction commits; at least once. */
export abstract class Outbox {
  abstract append(tx: Transaction, messages: readonly OutboxMessage[]): Promise<void>;
}
