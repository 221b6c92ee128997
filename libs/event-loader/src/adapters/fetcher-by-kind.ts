import { EventFetcher, type FetchResult } from '../core/ports.ts';
import { FileEventFetcher, type FileSource } from './file-event-fetcher.ts';
import { HttpEventFetcher, type HttpSource } from './http-event-fetcher.ts';
import type { StoredSource } from './postgres-event-store.ts';
import { StripeEventFetcher, type StripeSource } from './stripe-event-fetcher.ts';

/** A source of the configuration file. */
export type ConfiguredSource = (HttpSource | StripeSource | FileSource) & StoredSource;

/** Fetches each source with the fetcher of its kind. */
export class FetcherByKind extends EventFetcher<ConfiguredSource> {
  private readonly http = new HttpEventFetcher();
  private readonly file = new FileEventFetcher();
  private readonly stripe: StripeEventFetcher;

  constructor(stop: AbortSignal) {
    super();
    this.stripe = new StripeEventFetcher({ stop });
  }

  fetch(source: ConfiguredSource, afterId: string | undefined, limit: number): Promise<FetchResult> {
    if (source.kind === 'http') return this.http.fetch(source, afterId, limit);
    return source.kind === 'stripe' ? this.stripe.fetch(source, afterId, limit) : this.file.fetch(source, afterId, limit);
  }
}
