import type { Transaction } from './transaction-manager.ts';

/** What a call was about. `id` is null for a list of objects. */
export interface ActTarget {
  readonly type: string;
  readonly id: string | null;
}

/** Values by field name. A name may be in camelCase, as in the code, or in snake_case, as in the API: the audit log has snake_case. */
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
 * Notes what a use case has changed. If an operator or partner has made the call, the transaction manager writes it to the audit log, in the
 * same transaction. When a transaction is repeated, the change is noted again.
 */
export function recordChange(tx: Transaction, change: RecordedChange): void {
  tx.recordedChange = change;
}
