import { EventFetchError, type Source } from '../core/event.ts';
import type { EventFetcher } from '../core/ports.ts';

export interface FetcherSetup<S extends Source = Source> {
  readonly fetcher: EventFetcher<S>;
  readonly source: S;
  /** Nobody answers there. */
  readonly gone: S;
  /** The id of the nth event, from 1 on. */
  idOf(n: number): string;
  /** From now on the source has so many events; those of these numbers have a payload that is none. */
  offer(count: number, bad?: readonly number[]): Promise<void>;
}

/** What every EventFetcher promises. */
export function eventFetcherContract<S extends Source>(ground: () => FetcherSetup<S>): void {
  const numbered = (from: number, to: number): string[] =>
    Array.from({ length: to - from + 1 }, (_, index) => ground().idOf(from + index));
  const fetched = async (afterId: string | undefined, limit = 1000): Promise<string[]> => {
    const { fetcher, source } = ground();
    return (await fetcher.fetch(source, afterId, limit)).events.map(({ id }) => id);
  };

  test('without a cursor from the beginning, oldest first', async () => {
    await ground().offer(7);
    expect(await fetched(undefined)).toEqual(numbered(1, 7));
  });

  test('beyond the cursor, and nothing at or below it', async () => {
    await ground().offer(7);
    expect(await fetched(ground().idOf(4))).toEqual(numbered(5, 7));
    expect(await fetched(ground().idOf(7))).toEqual([]);
  });

  test('page by page everything comes, once', async () => {
    await ground().offer(230);
    const all: string[] = [];
    for (let page = await fetched(undefined, 100); page.length > 0; page = await fetched(all.at(-1), 100)) {
      expect(page.length).toBeLessThanOrEqual(100);
      all.push(...page);
    }
    expect(all).toEqual(numbered(1, 230));
  });

  test('what is new since the last fetch comes with the next one', async () => {
    await ground().offer(3);
    expect(await fetched(undefined)).toHaveLength(3);
    await ground().offer(5);
    expect(await fetched(ground().idOf(3))).toEqual(numbered(4, 5));
  });

  test('a bad event does not spoil its neighbours', async () => {
    await ground().offer(5, [3]);
    const { fetcher, source, idOf } = ground();
    const { events, bad } = await fetcher.fetch(source, undefined, 1000);
    expect(events.map(({ id }) => id)).toEqual([1, 2, 4, 5].map(idOf));
    expect(bad).toEqual([expect.objectContaining({ code: 'EVENT_INVALID' })]);
  });

  test('an empty source has nothing', async () => {
    await ground().offer(0);
    expect(await fetched(undefined)).toEqual([]);
  });

  test('a source that is gone is an error of the source', async () => {
    const { fetcher, gone } = ground();
    await expect(fetcher.fetch(gone, undefined, 10)).rejects.toThrow(EventFetchError);
  });
}
