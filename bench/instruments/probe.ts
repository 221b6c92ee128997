// Loaded before a process that is measured (`node --expose-gc --import`): tells over IPC what only it can know of itself.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { ChildProcess } from 'node:child_process';

export interface Probed {
  /** Since the last question. */
  readonly longestStallMs: number;
  /** After a full collection. */
  readonly residentBytes: number;
}

if (process.argv[1] && process.send) {
  // Two milliseconds: the delay of a timer includes its own period.
  const delay = monitorEventLoopDelay({ resolution: 2 });
  delay.enable();
  process.on('message', (message: { probe?: true; collect?: boolean }) => {
    if (!message.probe) return;
    const longestStallMs = Math.max(0, delay.max / 1e6 - 2);
    const collect = (globalThis as { gc?: () => void }).gc;
    if (message.collect) for (let round = 0; round < 3; round += 1) collect?.();
    const residentBytes = process.memoryUsage.rss();
    setImmediate(() => delay.reset());
    process.send!({ probed: { longestStallMs, residentBytes } satisfies Probed });
  });
}

/** Without a collection the question itself stalls nobody. */
export function probe(child: ChildProcess, { collect = false } = {}): Promise<Probed> {
  return new Promise((resolve) => {
    const hear = (message: { probed?: Probed }) => {
      if (!message.probed) return;
      child.off('message', hear);
      resolve(message.probed);
    };
    child.on('message', hear);
    child.send({ probe: true, collect });
  });
}
