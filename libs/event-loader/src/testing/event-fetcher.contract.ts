import { EventFetchError, type Source } from '../core/event.ts';
import type { EventFetcher } from '../core/ports.ts';

/** A fetcher under test, and a source whose events the test decides. */
export interface FetcherSetup<S extends Source = Source> {
  readonly fetcher: EventFetcher<S>;
  readonly source: S;
  /** A source that cannot be reached. */
  readonly unreachable: S;
  /** The id of event number `n`; the first event is number 1. */
  idOf(n: number): string;
  /** Gives the source `count` events. Those whose numbers are in `bad` have an invalid payload. */
  offer(count: number, bad?: readonly number[]): Promise<void>;
}

/** The tests that every EventFetcher must pass. */
export function eventFetcherContract<S extends Source>(setup: () => FetcherSetup<S>): void {
  const idsBetween = (from: number, to: number): string[] =>
    Array.from({ length: to - from + 1 }, (_, index) => setup().idOf(from + index));
  const fetchIds = async (afterId: string | undefined, limit = 1000): Promise<string[]> => {
    const { fetcher, source } = setup();
    return (await fetcher.fetch(source, afterId, limit)).events.map(({ id }) => id);
  };

  test('without a cursor a fetch starts at the oldest event', async () => {
    await setup().offer(7);
    expect(await fetchIds(undefined)).toEqual(idsBetween(1, 7));
  });

  test('a fetch returns events after the cursor, none at or below it', async () => {
    await setup().offer(7);
    expect(await fetchIds(setup().idOf(4))).toEqual(idsBetween(5, 7));
    expect(await fetchIds(setup().idOf(7))).toEqual([]);
  });

  test('a source that is fetched page by page returns each event once', async () => {
    await setup().offer(230);
    const all: string[] = [];
    for (let page = await fetchIds(undefined, 100); page.length > 0; page = await fetchIds(all.at(-1), 100)) {
      expect(page.length).toBeLessThanOrEqual(100);
      all.push(...page);
    }
    expect(all).toEqual(idsBetween(1, 230));
  });

  test('events that are added after a fetch come with the next fetch', async () => {
    await setup().offer(3);
    expect(await fetchIds(undefined)).toHaveLength(3);
    await setup().offer(5);
    expect(await fetchIds(setup().idOf(3))).toEqual(idsBetween(4, 5));
  });

  test('a bad event does not affect the other events of the answer', async () => {
    await setup().offer(5, [3]);
    const { fetcher, source, idOf } = setup();
    const { events, bad } = await fetcher.fetch(source, undefined, 1000);
    expect(events.map(({ id }) => id)).toEqual([1, 2, 4, 5].map(idOf));
    expect(bad).toEqual([expect.objectContaining({ code: 'EVENT_INVALID' })]);
  });

  test('a fetch from an empty source returns no events', async () => {
    await setup().offer(0);
    expect(await fetchIds(undefined)).toEqual([]);
  });

  test('a fetch from a source that cannot be reached throws an EventFetchError', async () => {
    const { fetcher, unreachable } = setup();
    await expect(fetcher.fetch(unreachable, undefined, 10)).rejects.toThrow(EventFetchError);
  });
}
