import { markdownTable } from '../instruments/markdown-table.ts';
import { median } from '../instruments/quantiles.ts';
import type { Figure } from './benchmarks.ts';

/** A change may cost this much and no more. */
export const LEAST_RATIO = 0.95;

/** One run of each commit, one directly after the other. */
export interface Pair {
  readonly old: readonly Figure[];
  readonly new: readonly Figure[];
}

export interface Comparison {
  readonly name: string;
  /** One for each pair in which both commits have the figure. Above 1 the new commit is better. */
  readonly ratios: readonly number[];
  readonly median: number;
  readonly isBelow: boolean;
  /** Medians of the figure itself. */
  readonly old: number;
  readonly new: number;
}

export interface Compared {
  readonly comparisons: readonly Comparison[];
  /** Figures that never came in both commits of a pair. */
  readonly onlyOld: readonly string[];
  readonly onlyNew: readonly string[];
}

/**
 * Ratios are taken inside each pair, and their median after that: what slows the machine down for some minutes slows both
 * commits of a pair.
 */
export function compare(pairs: readonly Pair[]): Compared {
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
    isBelow: middle < LEAST_RATIO,
    old: median(both.map(({ before }) => before.value)),
    new: median(both.map(({ after }) => after.value)),
  };
}

/** The direction is the new commit's: it may have been corrected there. */
function ratioOf(before: Figure, after: Figure): number {
  if (before.value === after.value) return 1;
  return after.isLessBetter ? before.value / after.value : after.value / before.value;
}

export function ratioTable(comparisons: readonly Comparison[]): string {
  const rows = comparisons.map((comparison) => [
    ...[comparison.name, ratio(comparison.median)],
    `${ratio(Math.min(...comparison.ratios))} … ${ratio(Math.max(...comparison.ratios))}`,
    ...[String(comparison.ratios.length), short(comparison.old), short(comparison.new)],
    comparison.isBelow ? `BELOW ${LEAST_RATIO}` : '',
  ]);
  return markdownTable(['figure', 'median ratio', 'least … most', 'pairs', 'old', 'new', ''], rows);
}

const ratio = (value: number): string => value.toFixed(3);
const short = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value === 0 ? '0' : value.toPrecision(3);
