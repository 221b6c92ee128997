// A process with a watchdog, for its tests. Arguments: beatMs, and what the process does. Prints `up` when the watchdog runs.
import { startWatchdog } from '../watchdog.ts';

const [beatMs = '1000', work = 'idle'] = process.argv.slice(2);
const stop = startWatchdog('watched', { beatMs: Number(beatMs) });
const keptAlive = setInterval(() => undefined, 1000);

/** Blocks the event loop for a time, without using the processor. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

const works: Record<string, () => void> = {
  idle: () => undefined,
  /** The event loop stands still for a minute. */
  block: () => block(60_000),
  /** The event loop stands still for half as long as it may, again and again. */
  load: () => {
    block(Number(beatMs) * 5);
    setImmediate(works.load!);
  },
  /** The watching has ended before the event loop stands still. */
  unwatched: () => {
    stop();
    setTimeout(() => {
      block(Number(beatMs) * 30);
      clearInterval(keptAlive);
    }, 100);
  },
};
process.stdout.write('up\n');
setTimeout(works[work]!, Number(beatMs) * 2);
