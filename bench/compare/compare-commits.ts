import type { Machine } from '../instruments/machine.ts';
import type { Options } from './arguments.ts';
import { makeCheckouts, type Project } from './checkouts.ts';
import { expectedMinutes, runPairs, schedule } from './run-pairs.ts';
import { machineLine, type Verdict, verdictOf, machineWarnings } from './verdict.ts';

/** Builds and measures both commits. Removes its worktrees and processes at the end, also when `signal` aborts. */
export async function compareCommits(project: Project, options: Options, machine: Machine): Promise<Verdict> {
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
