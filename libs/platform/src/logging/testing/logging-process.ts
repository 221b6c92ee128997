// A process that logs through stdoutLines, for its tests. Argument: how it ends. It appends a line first, which is buffered.
import { plainLines } from '../log-lines.ts';
import { createLogger } from '../logger.ts';

const [end = 'exit'] = process.argv.slice(2);
const logger = createLogger({ service: 'test', level: 'info' });
const lines = plainLines(logger);
const keptAlive = setInterval(() => undefined, 1000);

const ends: Record<string, () => void> = {
  exit: () => process.exit(0),
  crash: () => {
    throw new Error('crashed');
  },
  drain: () => logger.flush(() => process.exit()),
  natural: () => clearInterval(keptAlive),
  /** Stays. A line in between is written soon, with everything before it. */
  'soon line': () => logger.info('soon'),
  stay: () => undefined,
};

for (let number = 1; number <= 3; number += 1) lines.write(`"line":${number}`, 'buffered');
lines.write('"line":4', 'buffered');
process.stderr.write('appended');
ends[end]!();
