import { invitationRow, type InvitationRow } from '#contracts/invitations';
import type { FreePlace } from '../../purchase/quota-places.api.ts';
import type { SectorToPlan } from '../tree/plan-places.ts';
import { FreeBlocks, type Block } from './free-blocks.ts';

/** A row of a list that nobody is invited by. */
export interface RefusedRow {
  readonly kind: 'refused';
  readonly code: 'VALIDATION_FAILED' | 'QUOTA_EXCEEDED';
  readonly message: string;
}

/** A row of a list after the check of its fields. */
export type CheckedRow = { readonly kind: 'valid'; readonly row: InvitationRow } | RefusedRow;

/** What becomes of a row: an invitation to these places, the address was invited before, or it is refused. */
export type PlannedRow =
  | { readonly kind: 'placed'; readonly row: InvitationRow; readonly block: Block }
  | { readonly kind: 'duplicate'; readonly email: string }
  | RefusedRow;

/** An address as a list knows it: upper and lower case are the same. */
export const addressKey = (email: string): string => email.toLowerCase();

/** Checks everything of a row but its places. */
export function checkRow(
  row: unknown,
  { maxQuantity, sectorIds }: { readonly maxQuantity: number; readonly sectorIds: ReadonlySet<string> },
): CheckedRow {
  const parsed = invitationRow.safeParse(row);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => `${path.map(String).join('.')}: ${message}`);
    return invalid(faults.join('; '));
  }
  const { quantity, sector_id } = parsed.data;
  if (quantity > maxQuantity) return invalid(`quantity: is more than ${maxQuantity}, the most of this quota`);
  if (sector_id !== undefined && !sectorIds.has(sector_id)) return invalid('sector_id: is not a sector of this match');
  return { kind: 'valid', row: parsed.data };
}

/** What `planList` knows about the quota and the list. */
interface ListContext {
  readonly free: readonly FreePlace[];
  /** All sectors of the match. Without a `sector_id` a row gets no places for people in wheelchairs. */
  readonly sectors: readonly SectorToPlan[];
  /** Whether the list has a key: then it invites no address twice. */
  readonly hasKey: boolean;
  /** The addresses that a list with this key has invited before. */
  readonly listed: ReadonlySet<string>;
}

/** Chooses places for the rows of a list, in the order of the rows. */
export function planList(rows: readonly CheckedRow[], { free, sectors, hasKey, listed }: ListContext): readonly PlannedRow[] {
  const blocks = new FreeBlocks(free);
  const ordinary = sectors.filter(({ wheelchair }) => !wheelchair).map(({ id }) => id);
  const invited = new Set(listed);
  return rows.map((checked) => {
    if (checked.kind === 'refused') return checked;
    const { row } = checked;
    const address = addressKey(row.email);
    if (hasKey && invited.has(address)) return { kind: 'duplicate', email: row.email };
    const block = blocks.take(row.sector_id === undefined ? ordinary : [row.sector_id], row.quantity);
    if (!block) return { kind: 'refused', code: 'QUOTA_EXCEEDED', message: `No sector has ${row.quantity} free places left.` };
    invited.add(address);
    return { kind: 'placed', row, block };
  });
}

const invalid = (message: string): RefusedRow => ({ kind: 'refused', code: 'VALIDATION_FAILED', message });
