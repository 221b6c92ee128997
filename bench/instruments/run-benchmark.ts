import { explain } from '../../tools/local/trouble.ts';
import { PgbenchNotAvailable } from '../yardsticks/pgbench-binary.ts';

/** The command of a benchmark. */
export interface Benchmark<Options> {
  readonly usage: string;
  /** Reads the command line; undefined if it is wrong or asks for help. */
  readonly readOptions: () => Options | undefined;
  /** Measures; resolves to the exit code. */
  readonly main: (options: Options) => Promise<number>;
}

/** Runs the command and sets the exit code: 1 after an error, 2 after wrong usage, 3 without pgbench to compare with. */
export async function runBenchmark<Options>({ usage, readOptions, main }: Benchmark<Options>): Promise<void> {
  // On a signal, exit: all processes that this process started then exit too, because their pipe or channel is closed.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));
  try {
    const options = readOptions();
    if (options) process.exitCode = await main(options);
    else process.stderr.write(`${usage}\n`);
    if (!options) process.exitCode = 2;
  } catch (error) {
    const isPeerMissing = error instanceof PgbenchNotAvailable;
    process.stderr.write(isPeerMissing ? `peer not available: ${error.message}\n` : `${explain(error)}\n`);
    process.exitCode = isPeerMissing ? 3 : 1;
  }
}
