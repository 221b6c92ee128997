import type { Transaction } from './transaction-manager.ts';

/** What was done elsewhere and cannot be done here. The world has moved on; people decide what to do about it. */
export interface Conflict {
  /** What it is about, once an event: a seat, a ticket. */
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
  /** Not all could be done yet: the same event acts again then, and what it could not do until now is told anew. */
  readonly again?: Date;
}

/**
 * An event that was loaded and acts here. Its effect and the note that it has had it commit together, so it acts once,
 * however often it is handed over and whoever does it.
 */
export abstract class LoadedEffect {
  abstract readonly source: string;
  abstract readonly eventId: string;
  /** First in the transaction. False when it has acted: then nothing may be done. Nobody else can act upon it until the end. */
  abstract begin(tx: Transaction): Promise<boolean>;
  /** Last in the transaction. */
  abstract end(tx: Transaction, outcome: EffectOutcome): Promise<void>;
}
