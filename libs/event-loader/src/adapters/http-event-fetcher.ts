import { sourcePage } from '#contracts/loaded-events';
import { EventFetchError, type Source } from '../core/event.ts';
import { EventFetcher, type FetchResult } from '../core/ports.ts';
import { readEvents } from '../core/reading-events.ts';
import { textOfLongNumber } from './exact-json.ts';
import { getReply, parseReply, type RemoteSource, type ReplyLimits } from './source-reply.ts';

/** A source that answers `GET {url}?after_id=<id>&limit=<n>`. */
export interface HttpSource extends Source, RemoteSource {
  readonly kind: 'http';
}

/** Fetches with `GET {url}?after_id=<id>&limit=<n>`. The answer is `{"events": [{"id", "payload"}]}`. */
export class HttpEventFetcher extends EventFetcher<HttpSource> {
  constructor(private readonly limits: ReplyLimits = {}) {
    super();
  }

  async fetch(source: HttpSource, afterId: string | undefined, limit: number): Promise<FetchResult> {
    const url = new URL(source.url);
    // Without a cursor the fetch starts after id 0, which means at the oldest event: all ids are positive.
    url.searchParams.set('after_id', afterId ?? '0');
    url.searchParams.set('limit', String(limit));
    const page = sourcePage.safeParse(parseReply(await getReply(url, source, this.limits)));
    if (!page.success) throw new EventFetchError('SOURCE_BAD_FORMAT', 'the answer has no list of events');
    const { events, digest } = page.data;
    const read = readEvents(events.map(candidateOf), source.ids);
    return digest ? { ...read, digest: { upToId: digest.up_to_id, count: digest.count } } : read;
  }
}

function candidateOf(entry: unknown): { id: unknown; payload: unknown } {
  const { id, payload } = (entry ?? {}) as { id?: unknown; payload?: unknown };
  return { id: textOfLongNumber(id), payload };
}
