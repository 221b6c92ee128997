import type { SourceRateLimiter } from '../core/ports.ts';
import { sourceNamed } from './sources.ts';

export interface RateLimiterSetup {
  /** Two limiters, as in two processes. */
  readonly first: SourceRateLimiter;
  readonly second: SourceRateLimiter;
  readonly gapMs: number;
  sleep(ms: number): Promise<void>;
}

/** The tests that every SourceRateLimiter must pass. */
export function sourceRateLimiterContract(setup: () => RateLimiterSetup): void {
  let names = 0;
  const nextSource = () => sourceNamed(`rate-limited-${(names += 1)}`);

  test('of eight simultaneous requests for a permit one gets it, the others are refused at once', async () => {
    const source = nextSource();
    const permits = await Promise.all(
      Array.from({ length: 8 }, (_, index) => (index % 2 ? setup().first : setup().second).tryAcquire(source)),
    );
    expect(permits.filter((permit) => permit !== undefined)).toHaveLength(1);
  });

  test('after a request no permit is given for one gap, then one is', async () => {
    const { first, second, gapMs, sleep } = setup();
    const source = nextSource();
    await (await first.tryAcquire(source))!.requestFinished();
    await sleep(gapMs * 0.6);
    expect(await second.tryAcquire(source)).toBeUndefined();
    await sleep(gapMs * 0.6);
    expect(await second.tryAcquire(source)).toBeDefined();
  });

  test('a slow request is followed by a whole gap, counted from its end', async () => {
    const { first, second, gapMs, sleep } = setup();
    const source = nextSource();
    const permit = (await first.tryAcquire(source))!;
    await sleep(gapMs * 0.9);
    await permit.requestFinished();
    await sleep(gapMs * 0.6);
    expect(await second.tryAcquire(source)).toBeUndefined();
  });

  test('a permit whose holder dies blocks the source for a limited time', async () => {
    const { first, second, gapMs, sleep } = setup();
    const source = nextSource();
    expect(await first.tryAcquire(source)).toBeDefined();
    await sleep(gapMs + 300);
    expect(await second.tryAcquire(source)).toBeDefined();
  });

  test('isKnownLimited is false when a permit is available', async () => {
    const { first, second, gapMs, sleep } = setup();
    const source = nextSource();
    expect(first.isKnownLimited(source)).toBe(false);
    await (await first.tryAcquire(source))!.requestFinished();
    await second.tryAcquire(source);
    await sleep(gapMs + 5);
    expect([first.isKnownLimited(source), second.isKnownLimited(source)]).toEqual([false, false]);
    expect(await first.tryAcquire(source)).toBeDefined();
  });

  test('each source has its own limit', async () => {
    expect(await setup().first.tryAcquire(nextSource())).toBeDefined();
    expect(await setup().first.tryAcquire(nextSource())).toBeDefined();
  });
}
