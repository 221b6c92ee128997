import type { PlannedPlaces } from '#contracts/quotas';

type PlannedRow = PlannedPlaces['by_sector'][number]['rows'][number];

/** Neighbouring rows of which the same seats are taken. */
export interface PlannedRowGroup {
  readonly first: string;
  readonly last: string;
  readonly ranges: string;
  readonly isWhole: boolean;
  readonly quantity: number;
}

/**
 * Puts rows with the same seats into one group, so that a quota of forty whole rows is one line. Only rows with consecutive numbers:
 * between other rows there may be one of which nothing is taken.
 */
export function groupRows(rows: readonly PlannedRow[]): readonly PlannedRowGroup[] {
  const groups: PlannedRowGroup[] = [];
  for (const { row, quantity, is_whole: isWhole, ranges } of rows) {
    const shown = ranges.map(({ from, to }) => (from === to ? `${from}` : `${from}–${to}`)).join(', ');
    const before = groups.at(-1);
    const isNext = before !== undefined && Number(row) === Number(before.last) + 1;
    if (isNext && before.ranges === shown && before.isWhole === isWhole)
      groups[groups.length - 1] = { ...before, last: row, quantity: before.quantity + quantity };
    else groups.push({ first: row, last: row, ranges: shown, isWhole, quantity });
  }
  return groups;
}
