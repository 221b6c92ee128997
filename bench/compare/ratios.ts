import { markdownTable } from '../instruments/markdown-table.ts';
import { median } from '../instruments/quantiles.ts';
import type { Figure } from './benchmarks.ts';

/** The lowest accepted median ratio of new to old: a change may make a figure 5 % worse. */
export const MIN_RATIO = 0.95;

/** The figures of two runs, one of each commit, that ran directly after each other. */
export interface FigurePair {
  readonly old: readonly Figure[];
  readonly new: readonly Figure[];
}

/** One figure compared between the old and the new commit. */
export interface FigureComparison {
  readonly name: string;
  /** One ratio for each pair in which both commits have the figure. Above 1 the new commit is better. */
  readonly ratios: readonly number[];
  readonly median: number;
  readonly isBelow: boolean;
  /** Median of the figure's values in the runs of the old commit; `new`: of the new commit. */
  readonly old: number;
  readonly new: number;
}

/** All compared figures of one benchmark, and the names of figures that could not be compared. */
export interface ComparisonResult {
  readonly comparisons: readonly FigureComparison[];
  /** Names of figures that only the old commit has; `onlyNew`: only the new commit. */
  readonly onlyOld: readonly string[];
  readonly onlyNew: readonly string[];
}

/**
 * Computes a ratio for each pair, and then the median of the ratios. A disturbance of the machine for some minutes slows down both
 * runs of a pair, so it hardly changes the ratio.
 */
export function compare(pairs: readonly FigurePair[]): ComparisonResult {
  const comparisons = namesOf(pairs, 'new').flatMap((name) => comparisonOf(name, pairs) ?? []);
  const missing = (side: keyof FigurePair): string[] =>
    namesOf(pairs, side).filter((name) => comparisons.every((comparison) => comparison.name !== name));
  return { comparisons, onlyOld: missing('old'), onlyNew: missing('new') };
}

function namesOf(pairs: readonly FigurePair[], side: keyof FigurePair): string[] {
  return [...new Set(pairs.flatMap((pair) => pair[side].map(({ name }) => name)))];
}

function comparisonOf(name: string, pairs: readonly FigurePair[]): FigureComparison | undefined {
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

/** The ratio of the two values; above 1 the new one is better. If the commits differ in `isLessBetter`, the new one is right. */
function ratioOf(before: Figure, after: Figure): number {
  if (before.value === after.value) return 1;
  return after.isLessBetter ? before.value / after.value : after.value / before.value;
}

/** The Markdown table of a comparison: one row for each figure, with its median ratio. */
export function ratioTable(comparisons: readonly FigureComparison[]): string {
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
