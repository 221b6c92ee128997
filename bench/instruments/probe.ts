import type { ChildProcess } from 'node:child_process';
import path from 'node:path';

/** What probed.mjs measured inside a process since the last probe. */
export interface ProbeResult {
  /** The longest event-loop stall since the last probe. */
  readonly longestStallMs: number;
  /** Resident memory; after a full garbage collection if one was requested. */
  readonly residentBytes: number;
}

/** Node arguments that load probed.mjs into a process, so that `probe` can measure it. */
export const PROBE_ARGUMENTS = ['--expose-gc', '--import', path.join(import.meta.dirname, 'probed.mjs')];

/** Reads the measurements of a process. `collect` runs a full garbage collection first, which stalls the process. */
export function probe(child: ChildProcess, { collect = false } = {}): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const onMessage = (message: { probed?: ProbeResult }) => {
      if (!message.probed) return;
      child.off('message', onMessage);
      resolve(message.probed);
    };
    child.on('message', onMessage);
    child.send({ probe: true, collect });
  });
}
