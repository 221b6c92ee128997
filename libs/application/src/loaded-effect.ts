import type { Transaction } from './transaction-manager.ts';

/**
 * Part of an event from another system that cannot be applied here, for example the sale of a seat that we have sold, too. An
 * operator decides what to do.
 */
export interface Conflict {
  /** The id of the seat or ticket that the conflict is about. An event has at most one conflict for each seat or ticket. */
  readonly subject: string;
  readonly code:
    | 'CODE_FORGED'
    | 'SEAT_BLOCKED'
    | 'SEAT_HELD'
    | 'SEAT_SOLD'
    | 'SEAT_UNKNOWN'
    | 'TICKET_DEAD'
    | 'TICKET_OF_ANOTHER_MATCH'
    | 'TICKET_UNKNOWN'
    | 'TICKET_USED';
  readonly detail: string;
}

/** What applying a loaded event has led to. */
export interface EffectOutcome {
  readonly conflicts: readonly Conflict[];
  /**
   * The time at which the event must be applied a second time, because part of it could not be applied yet. The conflicts of that
   * attempt then replace these.
   */
  readonly again?: Date;
}

/**
 * The effect of an event that the event loader has read from another system. The effect and the record that it happened commit
 * together. So the event takes effect once, even if several processes handle it or one handles it twice.
 */
export abstract class LoadedEffect {
  abstract readonly source: string;
  abstract readonly eventId: string;
  /**
   * Must be called first in the transaction. Returns false if the event has taken effect before; then the caller must do nothing.
   * Locks the event until the transaction ends, so that no other process handles it at the same time.
   */
  abstract begin(tx: Transaction): Promise<boolean>;
  /** Records the outcome of the event. Must be called last in the transaction. */
  abstract end(tx: Transaction, outcome: EffectOutcome): Promise<void>;
}
