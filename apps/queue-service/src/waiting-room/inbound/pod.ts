import { randomBytes } from 'node:crypto';

/** The id of this pod, and ids for its connections: the pod's id and a number. Device lists in fans' sessions contain them. */
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
