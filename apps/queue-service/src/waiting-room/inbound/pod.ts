import { randomBytes } from 'node:crypto';

/** Gives this pod an id, and each of its connections an id made of the pod's id and a number. Redis lists these ids per fan. */
export class Pod {
  readonly id = `${randomBytes(4).toString('hex')}-`;
  private devices = 0;

  newDeviceId(): string {
    this.devices += 1;
    return `${this.id}${this.devices}`;
  }
}

/**
 * Monotonic milliseconds, for intervals inside this pod. Decisions about fans use Redis' clock. Rounded to an integer, because
 * V8 stores a fraction in 16 extra bytes for each field that holds it.
 */
export function nowMs(): number {
  return Math.floor(performance.now());
}
