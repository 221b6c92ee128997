import type { ChildProcess } from 'node:child_process';
import path from 'node:path';

/** What probed.mjs answers from within. */
export interface Probed {
  /** Since the last question. */
  readonly longestStallMs: number;
  /** After a full collection. */
  readonly residentBytes: number;
}

/** For the command line of the process to be measured. */
export const PROBED = ['--expose-gc', '--import', path.join(import.meta.dirname, 'probed.mjs')];

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
