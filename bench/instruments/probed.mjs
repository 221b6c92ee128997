// Loaded before a measured process (`node --expose-gc --import`): answers probes over IPC with values that only the process itself can
// measure. It is JavaScript, because for TypeScript Node would load its type stripper: 20 MB that the process does not use in production.
import { monitorEventLoopDelay } from 'node:perf_hooks';

// The delay includes the period of the timer, so 2 ms are subtracted below.
const delay = monitorEventLoopDelay({ resolution: 2 });
delay.enable();
process.on('message', (message) => {
  if (!message.probe) return;
  const longestStallMs = Math.max(0, delay.max / 1e6 - 2);
  if (message.collect) for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  const residentBytes = process.memoryUsage.rss();
  setImmediate(() => delay.reset());
  process.send({ probed: { longestStallMs, residentBytes } });
});
