import { setTimeout } from 'node:timers/promises';
import { jsonIn } from '#platform/http-client/http-client';
import { z } from 'zod';
import { EventFetchError, type Source } from '../core/event.ts';
import { EventFetcher, type FetchResult } from '../core/ports.ts';
import { readEvents } from '../core/reading-events.ts';
import { getReply, parseReply, type RemoteSource, type Reply, type ReplyLimits } from './source-reply.ts';
import { REQUEST_GAP_MS } from './redis-source-rate-limiter.ts';

/** A source that is the list of events of a Stripe account. */
export interface StripeSource extends Source, RemoteSource {
  readonly kind: 'stripe';
}

/** The number of events that one request asks for: the maximum that Stripe allows. */
const PAGE_SIZE = 100;
/** The search for the oldest event ends after this many pages. Stripe keeps events for 30 days. */
const MAX_SEARCH_PAGES = 5000;

const list = z.looseObject({ data: z.array(z.unknown()), has_more: z.boolean().optional() });
const resourceMissing = z.looseObject({ error: z.looseObject({ code: z.literal('resource_missing') }) });

interface Options extends ReplyLimits {
  /** The gap between two requests of one fetch. The rate limiter keeps the gap between two fetches. */
  readonly gapMs?: number;
  readonly stop?: AbortSignal;
}

/**
 * Fetches from Stripe's list of events, which starts with the newest event. With a cursor it requests the next newer page
 * (`ending_before`) and reverses it. Without a cursor, or with one that Stripe no longer knows, it pages back to the oldest event
 * (`starting_after`), with a gap between two requests. If there are more events than the limit, the oldest ones are returned; the
 * newer ones come with the next polls.
 */
export class StripeEventFetcher extends EventFetcher<StripeSource> {
  constructor(private readonly options: Options = {}) {
    super();
  }

  async fetch(source: StripeSource, afterId: string | undefined, limit: number): Promise<FetchResult> {
    if (afterId === undefined) return this.fetchOldest(source, limit);
    const reply = await this.ask(source, { ending_before: afterId });
    if (isUnknownCursor(reply)) {
      await this.waitForGap();
      return this.fetchOldest(source, limit);
    }
    const { data, has_more: hasMore } = pageOf(reply);
    return { hasMore: hasMore ?? data.length >= PAGE_SIZE, ...asEvents(data.toReversed()) };
  }

  private async fetchOldest(source: StripeSource, limit: number): Promise<FetchResult> {
    let oldest: unknown[] = [];
    const seen = new Set<string>();
    for (let last: string | undefined; seen.size < MAX_SEARCH_PAGES; await this.waitForGap()) {
      const { data, has_more } = pageOf(await this.ask(source, last === undefined ? {} : { starting_after: last }));
      // Only the oldest `limit` events are kept. The newer ones, at the front, are dropped here; the next polls fetch them again.
      oldest = [...oldest, ...data].slice(-limit);
      last = idOf(data.at(-1));
      const isLast = has_more === undefined ? data.length < PAGE_SIZE : !has_more;
      if (isLast || last === undefined || seen.has(last)) break;
      seen.add(last);
    }
    return asEvents(oldest.toReversed());
  }

  private ask(source: StripeSource, page: Readonly<Record<string, string>>): Promise<Reply> {
    const url = new URL(source.url);
    for (const [name, value] of Object.entries({ limit: String(PAGE_SIZE), ...page })) url.searchParams.set(name, value);
    return getReply(url, source, this.options);
  }

  private async waitForGap(): Promise<void> {
    await setTimeout(this.options.gapMs ?? REQUEST_GAP_MS);
    if (this.options.stop?.aborted)
      throw new EventFetchError('SOURCE_STOPPED', 'the loader was stopped while it searched for the oldest event');
  }
}

function pageOf(reply: Reply): z.output<typeof list> {
  const page = list.safeParse(parseReply(reply));
  if (!page.success) throw new EventFetchError('SOURCE_BAD_FORMAT', 'the answer is not a list in Stripe’s format');
  return page.data;
}

function isUnknownCursor(reply: Reply): boolean {
  return (reply.status === 400 || reply.status === 404) && resourceMissing.safeParse(jsonIn(reply)).success;
}

function idOf(event: unknown): string | undefined {
  const { id } = (event ?? {}) as { id?: unknown };
  return typeof id === 'string' ? id : undefined;
}

function asEvents(entries: readonly unknown[]): FetchResult {
  return readEvents(
    entries.map((payload) => ({ id: idOf(payload), payload })),
    'listed',
  );
}
