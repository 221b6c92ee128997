import { z } from 'zod';
import { EventFetchError, type Source } from '../core/event.ts';
import { EventFetcher, type Fetched } from '../core/ports.ts';
import { readEvents } from '../core/reading-events.ts';
import { getReply, parseReply, type RemoteSource, type Reply, type ReplyLimits } from './source-reply.ts';
import { GAP_MS } from './redis-source-rate-limiter.ts';

export interface StripeSource extends Source, RemoteSource {
  readonly kind: 'stripe';
}

/** Stripe gives at most 100 a page, and keeps events for 30 days. */
const PAGE = 100;
const PAGES_BACK = 5000;

const list = z.looseObject({ data: z.array(z.unknown()), has_more: z.boolean().optional() });
const resourceMissing = z.looseObject({ error: z.looseObject({ code: z.literal('resource_missing') }) });

interface Options extends ReplyLimits {
  /** Between two requests of one walk; the gate keeps those of two fetches apart. */
  readonly gapMs?: number;
  readonly stop?: AbortSignal;
}

/**
 * Stripe's list of events, newest first. Behind a cursor one page, the one next to it (`ending_before`), turned round. Without
 * one, or with one that Stripe has forgotten, the oldest page is looked for by walking back (`starting_after`), a gap between
 * two requests; where there are more than fit one fetch, the newer ones are left and come with the next turns.
 */
export class StripeEventFetcher extends EventFetcher<StripeSource> {
  constructor(private readonly options: Options = {}) {
    super();
  }

  async fetch(source: StripeSource, afterId: string | undefined, limit: number): Promise<Fetched> {
    if (afterId === undefined) return this.fromTheOldest(source, limit);
    const reply = await this.ask(source, { ending_before: afterId });
    if (hasForgotten(reply)) {
      await this.gap();
      return this.fromTheOldest(source, limit);
    }
    const { data, has_more: hasMore } = pageOf(reply);
    return { hasMore: hasMore ?? data.length >= PAGE, ...asEvents(data.toReversed()) };
  }

  private async fromTheOldest(source: StripeSource, limit: number): Promise<Fetched> {
    let oldest: unknown[] = [];
    const seen = new Set<string>();
    for (let last: string | undefined; seen.size < PAGES_BACK; await this.gap()) {
      const { data, has_more } = pageOf(await this.ask(source, last === undefined ? {} : { starting_after: last }));
      // Newest first, so what is at the front is what the next turns will bring again.
      oldest = [...oldest, ...data].slice(-limit);
      last = idOf(data.at(-1));
      const isLast = has_more === undefined ? data.length < PAGE : !has_more;
      if (isLast || last === undefined || seen.has(last)) break;
      seen.add(last);
    }
    return asEvents(oldest.toReversed());
  }

  private ask(source: StripeSource, where: Readonly<Record<string, string>>): Promise<Reply> {
    const url = new URL(source.url);
    for (const [name, value] of Object.entries({ limit: String(PAGE), ...where })) url.searchParams.set(name, value);
    return getReply(url, source, this.options);
  }

  private async gap(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, this.options.gapMs ?? GAP_MS));
    if (this.options.stop?.aborted)
      throw new EventFetchError('SOURCE_STOPPED', 'told to stop while looking for the oldest event');
  }
}

function pageOf(reply: Reply): z.output<typeof list> {
  const page = list.safeParse(parseReply(reply));
  if (!page.success) throw new EventFetchError('SOURCE_BAD_FORMAT', 'the answer is not a list as Stripe gives it');
  return page.data;
}

function hasForgotten({ status, body }: Reply): boolean {
  if (status !== 400 && status !== 404) return false;
  try {
    return resourceMissing.safeParse(JSON.parse(body)).success;
  } catch {
    return false;
  }
}

function idOf(event: unknown): string | undefined {
  const { id } = (event ?? {}) as { id?: unknown };
  return typeof id === 'string' ? id : undefined;
}

function asEvents(entries: readonly unknown[]): Fetched {
  return readEvents(
    entries.map((payload) => ({ id: idOf(payload), payload })),
    'listed',
  );
}
