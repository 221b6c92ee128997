import fs from 'node:fs';

/** Minimum time between two writes of the file that shows that a process is alive. */
const ALIVE_INTERVAL_MS = 5000;

/** Returns a function that writes the file, at most every five seconds. A probe checks the time of its last change. */
export function aliveSign(file: string | undefined): () => void {
  let writtenAt = -Infinity;
  return () => {
    if (file === undefined || performance.now() - writtenAt < ALIVE_INTERVAL_MS) return;
    writtenAt = performance.now();
    fs.writeFileSync(file, '');
  };
}
