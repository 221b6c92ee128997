/**
 * Longest interval between regular updates of fans. If the publication of a change is lost, a fan gets the new state within this
 * time.
 */
const MAX_RUN_INTERVAL_MS = 1000;

/**
 * The settings of the waiting room, in the units that the code uses, and the absolute URLs that fans get. The URLs are built from
 * PUBLIC_URL and QUEUE_PUBLIC_URL and never from a request's Host header.
 */
export class QueueConfig {
  /** The interval between two regular updates. */
  readonly runIntervalMs: number;

  constructor(
    readonly purchaseWindowMs: number,
    readonly persistenceSeconds: number,
    readonly updateMs: number,
    readonly presenceMs: number,
    readonly internalSecrets: readonly string[],
    private readonly urls: { readonly publicUrl: string; readonly queuePublicUrl: string },
  ) {
    this.runIntervalMs = Math.min(MAX_RUN_INTERVAL_MS, updateMs / 2, presenceMs / 3);
  }

  get persistenceMs(): number {
    return this.persistenceSeconds * 1000;
  }

  checkoutUrl(matchId: string): string {
    return `${this.urls.publicUrl}/matches/${matchId}/checkout`;
  }

  socketUrl(queueToken: string): string {
    return `${this.urls.queuePublicUrl.replace(/^http/, 'ws')}/ws/${queueToken}`;
  }

  streamUrl(queueToken: string): string {
    return `${this.urls.queuePublicUrl}/sse/${queueToken}`;
  }
}
