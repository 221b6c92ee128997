// `npm test`: runs every check and all tests, prints a line for each step and at the end the numbers of passed and failed tests.
// After a failed step the next steps still run, so that one run shows all failures.
import { buildStep, summaryLines, staticSteps, type CheckStep, type CheckStepResult } from './local/check-steps.ts';
import { jestStep } from './local/jest-step.ts';

const say = (line: string) => void process.stdout.write(`${line}\n`);
const stop = new AbortController();
const results: CheckStepResult[] = [];

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());

async function run(step: CheckStep): Promise<void> {
  const startedAt = Date.now();
  const result = await step.run(stop.signal);
  const { failed, note, details = [], output } = result;
  results.push(result);
  const seconds = ((Date.now() - startedAt) / 1_000).toFixed(1);
  say(`${failed > 0 ? '✗' : '✓'} ${step.name}${note ? ` (${note})` : ''} ${seconds} s`);
  for (const line of details) say(`  ${line}`);
  if (failed > 0) say(`${output}\n`);
}

/** Runs two steps at a time, because a small machine has two cores. */
async function runTwoAtATime(steps: CheckStep[]): Promise<void> {
  const waiting = [...steps];
  const worker = async () => {
    for (let step = waiting.shift(); step; step = waiting.shift()) await run(step);
  };
  await Promise.all([worker(), worker()]);
}

try {
  // First, because the linter resolves imports in dist: an old build has the names of before a rename.
  await run(buildStep());
  await runTwoAtATime(staticSteps());
  await run(jestStep(say));
  for (const line of summaryLines(results)) say(line);
  process.exitCode = results.some(({ failed }) => failed > 0) ? 1 : 0;
} catch (error) {
  if (!stop.signal.aborted) throw error;
  process.exitCode = 130;
}
