import { randomBytes } from 'node:crypto';

/** What this pod's connections are named after. */
export const podId = `${randomBytes(4).toString('hex')}-`;
let devices = 0;

/** Names a connection in the fan's session: this pod, and a number. */
export function newDeviceId(): string {
  devices += 1;
  return `${podId}${devices}`;
}

/**
 * Monotonic: what the pod measures with it never jumps. Everything that decides about fans is on Redis' clock. Whole, as a
 * fraction would be 16 bytes in each place that remembers it.
 */
export function nowMs(): number {
  return Math.floor(performance.now());
}
