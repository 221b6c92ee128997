import type { FanSocket } from './fan-socket.ts';
import type { StreamDevice } from './stream-device.ts';

/** The sockets and event streams of this pod. A pod at its limit refuses new ones, so that it serves its open ones well. */
export class ConnectionBudget {
  readonly sockets = new Set<FanSocket>();
  readonly streams = new Set<StreamDevice>();
  /** Set when the pod starts to shut down. */
  isDraining = false;

  constructor(readonly limit: number) {}

  get open(): number {
    return this.sockets.size + this.streams.size;
  }

  get isFull(): boolean {
    return this.open >= this.limit;
  }
}

/** A random Retry-After of one to five seconds, so that refused clients do not all return at the same moment. */
export function jitteredRetryAfter(): Record<string, string> {
  return { 'retry-after': String(1 + Math.floor(Math.random() * 5)) };
}
