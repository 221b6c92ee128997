import { randomBytes } from 'node:crypto';

/** Names the connections of this pod in their fans' sessions: what the pod is called, and a number. */
export class Pod {
  readonly id = `${randomBytes(4).toString('hex')}-`;
  private devices = 0;

  newDeviceId(): string {
    this.devices += 1;
    return `${this.id}${this.devices}`;
  }
}

/**
 * Monotonic: what the pod measures with it never jumps. Everything that decides about fans is on Redis' clock. Whole, as a
 * fraction would be 16 bytes in each place that remembers it.
 */
export function nowMs(): number {
  return Math.floor(performance.now());
}
