import type { Transaction } from './transaction-manager.ts';

/** What a call was about. `id` is null for a list of objects. */
export interface ActTarget {
  readonly type: string;
  readonly id: string | null;
}

/** Values by field name. The names are those of the code or of the API; the audit log writes all of them as the API does. */
export type RecordedFields = Readonly<Record<string, unknown>>;

/** What an operator or partner changed, as the audit log shows it. */
export interface RecordedChange {
  /** Missing if it is the object in the path of the call. */
  readonly target?: ActTarget;
  /** The match that the target belongs to. */
  readonly matchId?: string;
  /** The fields before and after. Null if there was, or is, no such object. Fields with the same value in both are left out. */
  readonly before: RecordedFields | null;
  readonly after: RecordedFields | null;
}

/**
 * Hands the change of a use case over to the transaction manager, which writes the row of the audit log in the same transaction, if
 * an operator or partner has made the call. Each attempt of a transaction hands over its own change.
 */
export function recordChange(tx: Transaction, change: RecordedChange): void {
  tx.recordedChange = change;
}
