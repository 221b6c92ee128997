// Loaded before a process that is measured (`node --expose-gc --import`): tells over IPC what only it can know of itself.
// JavaScript, because for a file with types Node loads its type stripper: 20 MB that the process does not have in production.
import { monitorEventLoopDelay } from 'node:perf_hooks';

// Two milliseconds: the delay of a timer includes its own period.
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
