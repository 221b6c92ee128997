import { Table } from '#testing/simulation/simulated-database';
import type { Invitation } from '../invitations/postgres-invitations.ts';
import type { LedgerRow } from '../moves/postgres-moves.ts';
import type { Quota } from '../tree/quota.ts';

/** A row of the ledger. Rows of the same place have ascending `seq`. */
export interface MoveRow extends Omit<LedgerRow, 'rule'> {
  readonly seq: number;
  readonly matchId: string;
  readonly seatIds: readonly string[];
}

/** The tables of `quota` in the simulated database. `purchase` has the places and the pending moves. */
export const quotaTables = {
  quotas: new Table<Quota>('quotas'),
  moves: new Table<MoveRow>('quota_moves'),
  invitations: new Table<Invitation>('invitations'),
  /** The unique index of a list's addresses. */
  ofList: new Table<{ readonly id: string }>('invitations_of_list'),
  tokens: new Table<{ readonly invitationId: string }>('invitation_tokens'),
  /** Has no rows. Its cells are advisory locks. */
  advisoryLocks: new Table<Record<never, never>>('advisory locks'),
} as const;
