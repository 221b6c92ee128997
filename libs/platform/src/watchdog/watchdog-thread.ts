import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

/** What the thread gets from the process that it watches. */
export interface WatchdogData {
  /** The name of the service, for the log line. */
  readonly name: string;
  /** One counter, which the event loop increases. Negative while a debugger may pause the process. */
  readonly beats: Int32Array;
  readonly lookMs: number;
  readonly maxSilentLooks: number;
}

const { name, beats, lookMs, maxSilentLooks } = workerData as WatchdogData;
let last = Atomics.load(beats, 0);
let silentLooks = 0;

setInterval(() => {
  const beat = Atomics.load(beats, 0);
  silentLooks = beat === last && beat >= 0 ? silentLooks + 1 : 0;
  last = beat;
  if (silentLooks > maxSilentLooks) kill();
}, lookMs);

/** Writes one log line and kills the process. The logger belongs to the event loop that stands still, so it is not used. */
function kill(): void {
  const msg = `${name} is killed: its event loop stood still for ${(maxSilentLooks * lookMs) / 1000} s`;
  const line = { level: 'fatal', time: new Date().toISOString(), service: name, pid: process.pid, msg };
  try {
    writeSync(2, `${JSON.stringify(line)}\n`);
  } finally {
    process.kill(process.pid, 'SIGKILL');
  }
}
