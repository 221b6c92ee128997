import { markdownTable } from '../instruments/markdown-table.ts';
import { median } from '../instruments/quantiles.ts';
import type { Figure } from './benchmarks.ts';

/** The lowest accepted median ratio: a change may make a figure 5 % worse. */
export const MIN_RATIO = 0.95;

/** The figures of one run of each commit, run directly after each other. */
export interface Pair {
  readonly old: readonly Figure[];
  readonly new: readonly Figure[];
}

export interface Comparison {
  readonly name: string;
  /** One ratio for each pair in which both commits have the figure. Above 1 the new commit is better. */
  readonly ratios: readonly number[];
  readonly median: number;
  readonly isBelow: boolean;
  /** Medians of the figure itself. */
  readonly old: number;
  readonly new: number;
}

export interface ComparisonResult {
  readonly comparisons: readonly Comparison[];
  /** Figures that no pair has in both commits. */
  readonly onlyOld: readonly string[];
  readonly onlyNew: readonly string[];
}

/**
 * Computes a ratio for each pair, and then the median of the ratios. A disturbance of the machine for some minutes slows down both
 * runs of a pair, so it hardly changes the ratio.
 */
export function compare(pairs: readonly Pair[]): ComparisonResult {
  const comparisons = namesOf(pairs, 'new').flatMap((name) => comparisonOf(name, pairs) ?? []);
  const missing = (side: keyof Pair): string[] =>
    namesOf(pairs, side).filter((name) => comparisons.every((comparison) => comparison.name !== name));
  return { comparisons, onlyOld: missing('old'), onlyNew: missing('new') };
}

function namesOf(pairs: readonly Pair[], side: keyof Pair): string[] {
  return [...new Set(pairs.flatMap((pair) => pair[side].map(({ name }) => name)))];
}

function comparisonOf(name: string, pairs: readonly Pair[]): Comparison | undefined {
  const both = pairs.flatMap((pair) => {
    const [before, after] = [pair.old, pair.new].map((figures) => figures.find((figure) => figure.name === name));
    return before && after ? [{ before, after }] : [];
  });
  if (both.length === 0) return undefined;
  const ratios = both.map(({ before, after }) => ratioOf(before, after));
  const middle = median(ratios);
  return {
    name,
    ratios,
    median: middle,
    isBelow: middle < MIN_RATIO,
    old: median(both.map(({ before }) => before.value)),
    new: median(both.map(({ after }) => after.value)),
  };
}

/** Uses `isLessBetter` of the new commit, which may have corrected it. */
function ratioOf(before: Figure, after: Figure): number {
  if (before.value === after.value) return 1;
  return after.isLessBetter ? before.value / after.value : after.value / before.value;
}

export function ratioTable(comparisons: readonly Comparison[]): string {
  const rows = comparisons.map((comparison) => [
    ...[comparison.name, ratio(comparison.median)],
    `${ratio(Math.min(...comparison.ratios))} … ${ratio(Math.max(...comparison.ratios))}`,
    ...[String(comparison.ratios.length), short(comparison.old), short(comparison.new)],
    comparison.isBelow ? `BELOW ${MIN_RATIO}` : '',
  ]);
  return markdownTable(['figure', 'median ratio', 'least … most', 'pairs', 'old', 'new', ''], rows);
}

const ratio = (value: number): string => value.toFixed(3);
const short = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value === 0 ? '0' : value.toPrecision(3);
