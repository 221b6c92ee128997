// `npm test`: runs every check and all tests, prints a line for each step and at the end the number of passed and failed ones.
// A failed step does not stop the run, so that one run shows all failures.
import { buildStep, summaryLines, staticSteps, type Step, type StepResult } from './local/check-steps.ts';
import { jestStep } from './local/jest-step.ts';

const say = (line: string) => void process.stdout.write(`${line}\n`);
const stop = new AbortController();
const results: StepResult[] = [];

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());

async function run(step: Step): Promise<void> {
  const startedAt = Date.now();
  const result = await step.run(stop.signal);
  const { failed, note, output } = result;
  results.push(result);
  const seconds = ((Date.now() - startedAt) / 1_000).toFixed(1);
  say(`${failed > 0 ? '✗' : '✓'} ${step.name}${note ? ` (${note})` : ''} ${seconds} s`);
  if (failed > 0) say(`${output}\n`);
}

/** Runs two steps at a time, because a small machine has two cores. */
async function runTwoAtATime(steps: Step[]): Promise<void> {
  const waiting = [...steps];
  const worker = async () => {
    for (let step = waiting.shift(); step; step = waiting.shift()) await run(step);
  };
  await Promise.all([worker(), worker()]);
}

try {
  await runTwoAtATime(staticSteps());
  await run(buildStep());
  await run(jestStep(say));
  for (const line of summaryLines(results)) say(line);
  process.exitCode = results.some(({ failed }) => failed > 0) ? 1 : 0;
} catch (error) {
  if (!stop.signal.aborted) throw error;
  process.exitCode = 130;
}
