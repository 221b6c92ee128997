import type { Cell } from './simulated-database.ts';

/** What a transaction has seen and changed. */
export interface Footprint {
  snapshot: number;
  commitSeq: number;
  readonly reads: Set<Cell>;
  readonly scans: { readonly table: string; readonly matches: (row: object) => boolean }[];
  readonly writes: Map<Cell, { readonly before: object | undefined; readonly after: object | undefined }>;
  /** When the first of those committed who overwrote what this one had read; kept from its commit on. */
  overtakenAt?: number;
}

/** `reader` has seen something as it was before `writer`: alone they would have run in this order. */
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
 * May `tx` not commit under SERIALIZABLE? PostgreSQL's rule (Cahill; Ports and Grittner, VLDB 2012): somebody read what a
 * pivot changed, the pivot read what a third one changed, all at the same time, and the third committed first. Looked for
 * whenever one of them commits; PostgreSQL sees it earlier and, by whole pages, where there is none, which only means more
 * repetitions.
 */
export function dangerous(tx: Footprint, finished: readonly Footprint[], active: readonly Footprint[]): boolean {
  const concurrent = finished.filter(({ commitSeq }) => commitSeq > tx.snapshot);
  const overtakers = concurrent.filter((other) => mustComeBefore(tx, other));
  if (overtakers.length === 0) return false;
  const overtakenAt = Math.min(...overtakers.map(({ commitSeq }) => commitSeq));
  tx.overtakenAt = overtakenAt;
  const isReadOnly = tx.writes.size === 0;
  const isLast = overtakers.some((pivot) => pivot.overtakenAt !== undefined && (!isReadOnly || pivot.overtakenAt <= tx.snapshot));
  const isPivot =
    active.some((other) => mustComeBefore(other, tx)) ||
    concurrent.some(
      (other) =>
        other.commitSeq >= overtakenAt && mustComeBefore(other, tx) && (other.writes.size > 0 || overtakenAt <= other.snapshot),
    );
  return isLast || isPivot;
}
