import type { Machine } from '../instruments/machine.ts';
import type { CompareOptions } from './arguments.ts';
import type { BenchmarkName } from './benchmarks.ts';
import type { BuiltCheckouts } from './checkouts.ts';
import { compare, MIN_RATIO, ratioTable } from './ratios.ts';
import type { PairResults } from './run-pairs.ts';

/** The highest load average of an idle machine. Above it, other work disturbs the measurement and the report warns. */
const MAX_LOAD = 1;

/** The report of a comparison, and whether the new commit is accepted. */
export interface Verdict {
  readonly report: string;
  /** True if every figure of the old commit was compared, no run failed and no median is too low. */
  readonly isGood: boolean;
}

/** Facts that the report shows beside the figures: options, machine and commits. */
export interface ReportContext {
  readonly options: CompareOptions;
  readonly machine: Machine;
  readonly checkouts: Pick<BuiltCheckouts, 'old' | 'new'>;
}

/** Compares the figures of all pairs and writes the report. */
export function verdictOf({ pairs, failures }: PairResults, { options, machine, checkouts }: ReportContext): Verdict {
  const parts = options.only.map((name) => ({ name, ...compare(pairs[name] ?? []) }));
  const comparisons = parts.flatMap(({ name, comparisons: found }) =>
    found.map((comparison) => ({ ...comparison, name: `${name}: ${comparison.name}` })),
  );
  const withName = (name: BenchmarkName, figures: readonly string[]): string[] => figures.map((figure) => `${name}: ${figure}`);
  const onlyInOld = parts.flatMap(({ name, onlyOld }) => withName(name, onlyOld));
  const onlyInNew = parts.flatMap(({ name, onlyNew }) => withName(name, onlyNew));
  const notCompared = parts.filter(({ comparisons: found }) => found.length === 0).map(({ name }) => name);
  const below = comparisons.filter(({ isBelow }) => isBelow).length;
  const report = [
    `# Quick benchmarks of two commits, ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    '',
    `- old: ${checkouts.old.title}`,
    `- new: ${checkouts.new.title}`,
    `- ${machineLine(machine)}`,
    ...machineWarnings(machine).map((warning) => `- ${warning}`),
    '',
    'A ratio compares the two runs of one pair. Above 1 the new commit is better, also for figures where less is better. The columns old and',
    'new contain the medians of the figure.',
    '',
    ratioTable(comparisons),
    '',
    ...onlyInOld.map((name) => `- not compared, only in old: ${name}`),
    ...onlyInNew.map((name) => `- not compared, only in new: ${name}`),
    ...notCompared.map((name) => `- not compared at all: ${name}`),
    ...failures.map((failure) => `- ${failure}`),
    comparisons.length === 0 ? 'Nothing was compared.' : `Medians below ${MIN_RATIO}: ${below} of ${comparisons.length}.`,
    '',
  ].join('\n');
  return { report, isGood: below + onlyInOld.length + notCompared.length + failures.length === 0 };
}

/** One line of the report that describes the machine. */
export function machineLine({ cores, processor, memoryGib, platform, node, loadBefore }: Machine): string {
  return `${cores} × ${processor}, ${memoryGib} GiB, ${platform}, Node ${node}; load average before ${loadBefore.toFixed(1)}`;
}

/** Warnings if the machine was busy before the start. Empty if it was idle. */
export function machineWarnings({ loadBefore }: Machine): string[] {
  if (loadBefore <= MAX_LOAD) return [];
  return [`WARNING: the load average is above ${MAX_LOAD}: other work runs on this machine and makes the ratios noisy`];
}
