import type { Machine } from '../instruments/machine.ts';
import type { Options } from './arguments.ts';
import type { BenchmarkName } from './benchmarks.ts';
import type { Checkouts } from './checkouts.ts';
import { compare, LEAST_RATIO, ratioTable } from './ratios.ts';
import type { Measured } from './run-pairs.ts';

/** Above it other work runs on the machine. */
const MOST_LOAD = 1;

export interface Verdict {
  readonly report: string;
  /** Every figure of the old commit was compared, and no median is too low. */
  readonly isGood: boolean;
}

export interface Context {
  readonly options: Options;
  readonly machine: Machine;
  readonly checkouts: Pick<Checkouts, 'old' | 'new'>;
}

export function verdictOf({ pairs, failures }: Measured, { options, machine, checkouts }: Context): Verdict {
  const parts = options.only.map((name) => ({ name, ...compare(pairs[name] ?? []) }));
  const comparisons = parts.flatMap(({ name, comparisons: found }) =>
    found.map((comparison) => ({ ...comparison, name: `${name}: ${comparison.name}` })),
  );
  const withName = (name: BenchmarkName, figures: readonly string[]): string[] => figures.map((figure) => `${name}: ${figure}`);
  const lost = parts.flatMap(({ name, onlyOld }) => withName(name, onlyOld));
  const added = parts.flatMap(({ name, onlyNew }) => withName(name, onlyNew));
  const empty = parts.filter(({ comparisons: found }) => found.length === 0).map(({ name }) => name);
  const below = comparisons.filter(({ isBelow }) => isBelow).length;
  const report = [
    `# Quick benchmarks of two commits, ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    '',
    `- old: ${checkouts.old.title}`,
    `- new: ${checkouts.new.title}`,
    `- ${machineLine(machine)}`,
    ...warnings(machine).map((warning) => `- ${warning}`),
    '',
    'A ratio compares the two runs of one pair. Above 1 the new commit is better, also where less is better. The columns old and',
    'new are medians of the figure itself.',
    '',
    ratioTable(comparisons),
    '',
    ...lost.map((name) => `- not compared, only in old: ${name}`),
    ...added.map((name) => `- not compared, only in new: ${name}`),
    ...empty.map((name) => `- not compared at all: ${name}`),
    ...failures.map((failure) => `- ${failure}`),
    comparisons.length === 0 ? 'Nothing was compared.' : `Medians below ${LEAST_RATIO}: ${below} of ${comparisons.length}.`,
    '',
  ].join('\n');
  return { report, isGood: below + lost.length + empty.length + failures.length === 0 };
}

export function machineLine({ cores, processor, memoryGib, platform, node, loadBefore }: Machine): string {
  return `${cores} × ${processor}, ${memoryGib} GiB, ${platform}, Node ${node}; load average before ${loadBefore.toFixed(1)}`;
}

export function warnings({ loadBefore }: Machine): string[] {
  if (loadBefore <= MOST_LOAD) return [];
  return [`WARNING: the load average is above ${MOST_LOAD}: other work runs on this machine and makes the ratios noisy`];
}
