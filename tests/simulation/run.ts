// `npm run test:simulation -- --seeds 20000 [--from 1] [--minutes 10]`: simulates one sale for each seed.
// `npm run test:simulation -- --seed 4711`: simulates one sale and prints every step. Exits with 1 at the first fault. `--style quotas`: all
// sales have this style (styles.ts); without it each seed chooses one.
import { parseArgs } from 'node:util';
import { simulate, type SimulatedSale } from './simulate.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    minutes: { type: 'string', default: '10' },
    style: { type: 'string' },
  },
});
const style = values.style === undefined ? {} : { style: values.style };
const say = (line: string): void => void process.stdout.write(`${line}\n`);

function printRun({ seed, faults, trace }: SimulatedSale): void {
  for (const line of trace) say(line);
  for (const fault of faults) say(`✗ ${fault}`);
  say(
    faults.length === 0
      ? `✓ seed ${seed}: all invariants hold`
      : `to repeat: npm run test:simulation -- --seed ${seed}${values.style === undefined ? '' : ` --style ${values.style}`}`,
  );
  if (faults.length > 0) process.exitCode = 1;
}

async function runSeeds(from: number, seeds: number, minutes: number): Promise<void> {
  const startedAt = Date.now();
  const interleavings = new Set<number>();
  const eventCounts: Record<string, number> = {};
  let [done, steps, printedAt] = [0, 0, startedAt];
  const figures = (): string => {
    const rate = done / ((Date.now() - startedAt) / 1000);
    return `${done} seeds, ${rate.toFixed(0)} seeds/s, ${steps} steps, ${interleavings.size} different interleavings`;
  };
  while (done < seeds && Date.now() - startedAt < minutes * 60_000) {
    const run = await simulate(from + done, style);
    if (run.faults.length > 0) return printRun(await simulate(run.seed, { ...style, withTrace: true }));
    done += 1;
    steps += run.steps;
    interleavings.add(run.interleaving);
    for (const [event, count] of Object.entries(run.eventCounts)) eventCounts[event] = (eventCounts[event] ?? 0) + count;
    if (Date.now() - printedAt < 5000) continue;
    printedAt = Date.now();
    say(figures());
  }
  if (done === 0) {
    say('✗ no seed was run: --seeds and --minutes are numbers above 0');
    process.exitCode = 2;
    return;
  }
  say(
    Object.entries(eventCounts)
      .map(([event, count]) => `${event} ${count}`)
      .join(', '),
  );
  if (done < seeds) say(`NOT RUN ${seeds - done} of ${seeds} seeds: ${minutes} minutes have passed`);
  say(`✓ ${figures()}: all invariants hold`);
}

if (values.seed !== undefined) printRun(await simulate(Number(values.seed), { ...style, withTrace: true }));
else await runSeeds(Number(values.from), Number(values.seeds), Number(values.minutes));
