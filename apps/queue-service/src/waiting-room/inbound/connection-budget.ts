/** How many sockets and streams this pod holds, and how many it may: a full pod says so instead of serving all badly. */
export class ConnectionBudget {
  sockets = 0;
  streams = 0;
  /** Set once the pod is on its way out. */
  isDraining = false;

  constructor(readonly limit: number) {}

  get open(): number {
    return this.sockets + this.streams;
  }

  get isFull(): boolean {
    return this.open >= this.limit;
  }
}

/** One to five seconds, by chance, so that those who are refused do not come back as one wave. */
export function jitteredRetryAfter(): Record<string, string> {
  return { 'retry-after': String(1 + Math.floor(Math.random() * 5)) };
}
