import type { Cell } from './simulated-database.ts';

/** What a transaction has read and written, with the commit numbers of its snapshot and of its commit. */
export interface Footprint {
  snapshot: number;
  commitSeq: number;
  readonly reads: Set<Cell>;
  readonly scans: { readonly table: string; readonly matches: (row: object) => boolean }[];
  readonly writes: Map<Cell, { readonly before: object | undefined; readonly after: object | undefined }>;
  /**
   * The commit number of the first committed transaction that overwrote something this transaction had read. Set when this
   * transaction commits.
   */
  firstOverwriteSeq?: number;
}

/** True if `reader` read a row version that `writer` has overwritten. In a serial order `reader` must then run before `writer`. */
function mustComeBefore(reader: Footprint, writer: Footprint): boolean {
  for (const [cell, { before, after }] of writer.writes) {
    if (reader.reads.has(cell)) return true;
    for (const { table, matches } of reader.scans) {
      if (table === cell.table && ((before && matches(before)) || (after && matches(after)))) return true;
    }
  }
  return false;
}

/**
 * True if `tx` may not commit under SERIALIZABLE. This is PostgreSQL's rule (Cahill; Ports and Grittner, VLDB 2012): of three
 * concurrent transactions the first read what the second (the pivot) changed, the second read what the third changed, and the
 * third committed first. The simulation checks the rule at each commit. PostgreSQL checks earlier and tracks whole pages, so it
 * reports some conflicts that do not exist, which only cause more retries.
 */
export function isDangerous(tx: Footprint, finished: readonly Footprint[], active: readonly Footprint[]): boolean {
  const concurrent = finished.filter(({ commitSeq }) => commitSeq > tx.snapshot);
  const overwriters = concurrent.filter((other) => mustComeBefore(tx, other));
  if (overwriters.length === 0) return false;
  const firstOverwriteSeq = Math.min(...overwriters.map(({ commitSeq }) => commitSeq));
  tx.firstOverwriteSeq = firstOverwriteSeq;
  const isReadOnly = tx.writes.size === 0;
  const isFirst = overwriters.some(
    (pivot) => pivot.firstOverwriteSeq !== undefined && (!isReadOnly || pivot.firstOverwriteSeq <= tx.snapshot),
  );
  const isPivot =
    active.some((other) => mustComeBefore(other, tx)) ||
    concurrent.some(
      (other) =>
        other.commitSeq >= firstOverwriteSeq &&
        mustComeBefore(other, tx) &&
        (other.writes.size > 0 || firstOverwriteSeq <= other.snapshot),
    );
  return isFirst || isPivot;
}
