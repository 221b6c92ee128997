import type { SourceRateLimiter } from '../core/ports.ts';
import { sourceNamed } from './sources.ts';

export interface RateLimiterSetup {
  readonly one: SourceRateLimiter;
  readonly other: SourceRateLimiter;
  readonly gapMs: number;
  sleep(ms: number): Promise<void>;
}

/** What every SourceRateLimiter promises. */
export function sourceRateLimiterContract(ground: () => RateLimiterSetup): void {
  let names = 0;
  const nextSource = () => sourceNamed(`rateLimited-${(names += 1)}`);

  test('one of many passes, the others are told at once', async () => {
    const source = nextSource();
    const asked = await Promise.all(
      Array.from({ length: 8 }, (_, index) => (index % 2 ? ground().one : ground().other).tryPass(source)),
    );
    expect(asked.filter((pass) => pass !== undefined)).toHaveLength(1);
  });

  test('after a request nobody passes for a gap, then somebody does', async () => {
    const { one, other, gapMs, sleep } = ground();
    const source = nextSource();
    await (await one.tryPass(source))!.used();
    await sleep(gapMs * 0.6);
    expect(await other.tryPass(source)).toBeUndefined();
    await sleep(gapMs * 0.6);
    expect(await other.tryPass(source)).toBeDefined();
  });

  test('a request that takes its time is followed by a whole gap', async () => {
    const { one, other, gapMs, sleep } = ground();
    const source = nextSource();
    const pass = (await one.tryPass(source))!;
    await sleep(gapMs * 0.9);
    await pass.used();
    await sleep(gapMs * 0.6);
    expect(await other.tryPass(source)).toBeUndefined();
  });

  test('who takes a pass and dies shuts the gate for a while, not for ever', async () => {
    const { one, other, gapMs, sleep } = ground();
    const source = nextSource();
    expect(await one.tryPass(source)).toBeDefined();
    await sleep(gapMs + 300);
    expect(await other.tryPass(source)).toBeDefined();
  });

  test('it is never known to be shut when it is open', async () => {
    const { one, other, gapMs, sleep } = ground();
    const source = nextSource();
    expect(one.isKnownShut(source)).toBe(false);
    await (await one.tryPass(source))!.used();
    await other.tryPass(source);
    await sleep(gapMs + 5);
    expect([one.isKnownShut(source), other.isKnownShut(source)]).toEqual([false, false]);
    expect(await one.tryPass(source)).toBeDefined();
  });

  test('each source has its own', async () => {
    expect(await ground().one.tryPass(nextSource())).toBeDefined();
    expect(await ground().one.tryPass(nextSource())).toBeDefined();
  });
}
