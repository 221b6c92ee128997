import type { Machine } from '../instruments/machine.ts';
import type { CompareOptions } from './arguments.ts';
import { makeCheckouts, type ComparisonContext } from './checkouts.ts';
import { expectedMinutes, runPairs, schedule } from './run-pairs.ts';
import { machineLine, type Verdict, verdictOf, machineWarnings } from './verdict.ts';

/** Builds and measures both commits. Deletes the worktrees and ends the processes at the end, even when `signal` aborts. */
export async function compareCommits(project: ComparisonContext, options: CompareOptions, machine: Machine): Promise<Verdict> {
  const runs = schedule(options.only, options.pairs);
  project.say(machineLine(machine));
  for (const warning of machineWarnings(machine)) project.say(warning);
  project.say(`${runs.length} quick runs, about ${expectedMinutes(runs)} min after the builds`);
  const checkouts = await makeCheckouts(project, options);
  try {
    const measured = await runPairs(project, checkouts, runs);
    return verdictOf(measured, { options, machine, checkouts });
  } finally {
    checkouts.remove();
  }
}
