// `npm run test:simulation -- --seeds 20000 [--from 1] [--minutes 10]`: that many sales, each in the order of its own seed.
// `-- --seed 4711`: that one again, with every step. Ends with 1 at the first fault.
import { parseArgs } from 'node:util';
import { simulate, type Run } from './simulate.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    minutes: { type: 'string', default: '10' },
  },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);

function tellFaults({ seed, faults, trace }: Run): void {
  for (const line of trace) say(line);
  for (const fault of faults) say(`✗ ${fault}`);
  say(faults.length === 0 ? `✓ seed ${seed}: nothing is wrong` : `again: npm run test:simulation -- --seed ${seed}`);
  if (faults.length > 0) process.exitCode = 1;
}

async function many(from: number, seeds: number, minutes: number): Promise<void> {
  const startedAt = Date.now();
  const interleavings = new Set<number>();
  const saw: Record<string, number> = {};
  let [done, steps, toldAt] = [0, 0, startedAt];
  const figures = (): string => {
    const rate = done / ((Date.now() - startedAt) / 1000);
    return `${done} seeds, ${rate.toFixed(0)} seeds/s, ${steps} steps, ${interleavings.size} different interleavings`;
  };
  while (done < seeds && Date.now() - startedAt < minutes * 60_000) {
    const run = await simulate(from + done);
    if (run.faults.length > 0) return tellFaults(await simulate(run.seed, { isTold: true }));
    done += 1;
    steps += run.steps;
    interleavings.add(run.interleaving);
    for (const [what, times] of Object.entries(run.saw)) saw[what] = (saw[what] ?? 0) + times;
    if (Date.now() - toldAt < 5000) continue;
    toldAt = Date.now();
    say(figures());
  }
  if (done === 0) {
    say('✗ no seed was run: --seeds and --minutes are numbers above 0');
    process.exitCode = 2;
    return;
  }
  say(
    Object.entries(saw)
      .map(([what, times]) => `${what} ${times}`)
      .join(', '),
  );
  if (done < seeds) say(`NOT RUN ${seeds - done} of ${seeds} seeds: ${minutes} minutes were over`);
  say(`✓ ${figures()}: nothing is wrong`);
}

if (values.seed !== undefined) tellFaults(await simulate(Number(values.seed), { isTold: true }));
else await many(Number(values.from), Number(values.seeds), Number(values.minutes));
