import type { Machine } from '../instruments/machine.ts';
import type { Options } from './arguments.ts';
import type { BenchmarkName } from './benchmarks.ts';
import type { Checkouts } from './checkouts.ts';
import { compare, MIN_RATIO, ratioTable } from './ratios.ts';
import type { PairResults } from './run-pairs.ts';

/** A higher load average means that other work runs on the machine. */
const MAX_LOAD = 1;

export interface Verdict {
  readonly report: string;
  /** True if every figure of the old commit was compared, no run failed and no median is too low. */
  readonly isGood: boolean;
}

export interface ReportContext {
  readonly options: Options;
  readonly machine: Machine;
  readonly checkouts: Pick<Checkouts, 'old' | 'new'>;
}

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

export function machineLine({ cores, processor, memoryGib, platform, node, loadBefore }: Machine): string {
  return `${cores} × ${processor}, ${memoryGib} GiB, ${platform}, Node ${node}; load average before ${loadBefore.toFixed(1)}`;
}

export function machineWarnings({ loadBefore }: Machine): string[] {
  if (loadBefore <= MAX_LOAD) return [];
  return [`WARNING: the load average is above ${MAX_LOAD}: other work runs on this machine and makes the ratios noisy`];
}
