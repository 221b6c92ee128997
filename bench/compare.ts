// `npm run bench:compare -- OLD`: compares the speed of the working tree with that of an older commit. USAGE lists the exit codes.
import { ROOT } from '../tools/local/build.ts';
import { explain } from '../tools/local/trouble.ts';
import { readArguments, USAGE, WrongUsage } from './compare/arguments.ts';
import { compareCommits } from './compare/compare-commits.ts';
import { describeMachine } from './instruments/machine.ts';

const startedAt = Date.now();
const say = (line: string): void =>
  void process.stderr.write(`${((Date.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${line}\n`);

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());

try {
  const options = readArguments(process.argv.slice(2));
  if (options === 'help') process.stdout.write(`${USAGE}\n`);
  else {
    const { report, isGood } = await compareCommits({ root: ROOT, signal: stop.signal, say }, options, describeMachine());
    process.stdout.write(report);
    process.exitCode = isGood ? 0 : 1;
  }
} catch (error) {
  if (error instanceof WrongUsage) process.stderr.write(`${error.message}\n\n${USAGE}\n`);
  else if (stop.signal.aborted) say('stopped; the worktrees are removed');
  else process.stderr.write(`${explain(error)}\n`);
  process.exitCode = error instanceof WrongUsage ? 2 : stop.signal.aborted ? 130 : 1;
}
