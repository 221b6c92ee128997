import type { Source } from '../core/event.ts';
import type { SourceRateLimiter } from '../core/ports.ts';
import { sourceNamed } from './sources.ts';

/** Two rate limiters under test. */
export interface RateLimiterSetup {
  /** Two limiters, as in two processes. */
  readonly first: SourceRateLimiter;
  readonly second: SourceRateLimiter;
  readonly gapMs: number;
  sleep(ms: number): Promise<void>;
  /** The time in milliseconds, on the clock that `sleep` waits for. */
  now(): number;
}

/** Asks for a permit until one is given. Returns how long that took, measured from `startedAt`. Redis rounds times to 1 ms. */
async function msUntilPermit(
  limiter: SourceRateLimiter,
  source: Source,
  startedAt: number,
  setup: RateLimiterSetup,
): Promise<number> {
  while (!(await limiter.tryAcquire(source))) await setup.sleep(5);
  return setup.now() - startedAt;
}

/** The tests that every SourceRateLimiter must pass. */
export function sourceRateLimiterContract(setup: () => RateLimiterSetup): void {
  let names = 0;
  const nextSource = () => sourceNamed(`rate-limited-${(names += 1)}`);

  test('of eight simultaneous requests for a permit one succeeds, and seven are refused at once', async () => {
    const source = nextSource();
    const permits = await Promise.all(
      Array.from({ length: 8 }, (_, index) => (index % 2 ? setup().first : setup().second).tryAcquire(source)),
    );
    expect(permits.filter((permit) => permit !== undefined)).toHaveLength(1);
  });

  test('after a request the next permit is given one gap later, and none before', async () => {
    const parts = setup();
    const source = nextSource();
    const permit = (await parts.first.tryAcquire(source))!;
    const finishedAt = parts.now();
    await permit.requestFinished();
    expect(await msUntilPermit(parts.second, source, finishedAt, parts)).toBeGreaterThanOrEqual(parts.gapMs - 1);
  });

  test('after a slow request the gap is counted from the end of the request', async () => {
    const parts = setup();
    const source = nextSource();
    const permit = (await parts.first.tryAcquire(source))!;
    await parts.sleep(parts.gapMs * 0.9);
    const finishedAt = parts.now();
    await permit.requestFinished();
    expect(await msUntilPermit(parts.second, source, finishedAt, parts)).toBeGreaterThanOrEqual(parts.gapMs - 1);
  });

  test('after the holder of a permit dies, the next permit is given within a limited time', async () => {
    const { first, second, gapMs, sleep } = setup();
    const source = nextSource();
    expect(await first.tryAcquire(source)).toBeDefined();
    await sleep(gapMs + 300);
    expect(await second.tryAcquire(source)).toBeDefined();
  });

  test('isKnownLimited is false for a source whose permit is available', async () => {
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
