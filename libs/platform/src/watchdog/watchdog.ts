import inspector from 'node:inspector';
import { Worker } from 'node:worker_threads';
import type { WatchdogData } from './watchdog-thread.ts';

/** How often the event loop shows that it runs, and how often the thread looks. */
const BEAT_MS = 1000;
/** How many looks in a row may find no beat. So a process is killed 10 to 12 s after its event loop stopped (CONTRACT §6). */
const MAX_SILENT_LOOKS = 10;
/** The value of the beat counter while a debugger may pause the process. */
const DEBUGGED = -1;
/** The thread holds a few numbers. It must not make the process bigger. */
const MEMORY = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 };

/**
 * Kills this process when its event loop stands still for 10 s, for example in an endless loop. Such a process answers nothing and
 * cannot end itself, but it keeps its sockets, its locks and its share of the requests. A thread watches it, because a probe over
 * HTTP also fails when the machine is only busy.
 *
 * A process that is paused as a whole (SIGSTOP, a sleeping machine, no processor time) is not killed: the thread stands still, too,
 * and counts its own looks, not the time. A process with a debugger is not killed either.
 *
 * Returns the function that ends the watching.
 */
export function startWatchdog(name: string, { beatMs = BEAT_MS } = {}): () => void {
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const workerData: WatchdogData = { name, beats, lookMs: beatMs, maxSilentLooks: MAX_SILENT_LOOKS };
  const isSource = import.meta.url.endsWith('.ts');
  const thread = new Worker(new URL(`./watchdog-thread.${isSource ? 'ts' : 'js'}`, import.meta.url), {
    workerData,
    resourceLimits: MEMORY,
  });
  // Without its thread the process is only not watched.
  thread.on('error', (error) => process.stderr.write(`${name} is not watched: ${String(error)}\n`));
  thread.unref();
  const timer = setInterval(
    () => Atomics.store(beats, 0, inspector.url() ? DEBUGGED : Atomics.load(beats, 0) + 1),
    beatMs,
  ).unref();
  return () => {
    clearInterval(timer);
    void thread.terminate();
  };
}
