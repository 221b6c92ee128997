import type { Transaction } from './transaction-manager.ts';

/** Something that happened in another system and cannot be applied here. An operator decides what to do about it. */
export interface Conflict {
  /** The id of the seat or ticket. An event has at most one conflict for each subject. */
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

export interface EffectOutcome {
  readonly conflicts: readonly Conflict[];
  /**
   * The time at which the event is applied again, because part of it could not be applied yet. Its conflicts are then replaced by
   * those of the new attempt.
   */
  readonly again?: Date;
}

/**
 * A loaded event that takes effect here. The effect and the record that it happened commit together. So it takes effect once, even
 * if several processes handle the event or it is handled again.
 */
export abstract class LoadedEffect {
  abstract readonly source: string;
  abstract readonly eventId: string;
  /**
   * Must be called first in the transaction. False if the event has taken effect before: then the caller must do nothing. Locks the
   * event until the transaction ends, so no other process handles it meanwhile.
   */
  abstract begin(tx: Transaction): Promise<boolean>;
  /** Records the outcome. Must be called last in the transaction. */
  abstract end(tx: Transaction, outcome: EffectOutcome): Promise<void>;
}
