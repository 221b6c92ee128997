import type { Lock, LockFactory } from '../core/ports.ts';
import { sourceNamed } from './sources.ts';

export interface LockSetup {
  /** Two of them, as in two processes. */
  readonly one: LockFactory;
  readonly other: LockFactory;
  /** Its holder is frozen, or cut off, for longer than a lock lives. */
  lapse(lock: Lock): Promise<void>;
}

/** What every LockFactory promises. */
export function lockFactoryContract(ground: () => LockSetup): void {
  let names = 0;
  const nextSource = () => sourceNamed(`locked-${(names += 1)}`);

  test('one of many gets it, the others are told at once', async () => {
    const source = nextSource();
    const asked = await Promise.all(
      Array.from({ length: 8 }, (_, index) => (index % 2 ? ground().one : ground().other).tryAcquire(source)),
    );
    const got = asked.filter((lock) => lock !== undefined);
    expect(got).toHaveLength(1);
    expect(got[0]!.isHeld).toBe(true);
    await got[0]!.release();
  });

  test('after its release the next one gets it, with a greater number', async () => {
    const source = nextSource();
    const numbers: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      const lock = await (turn % 2 ? ground().one : ground().other).tryAcquire(source);
      numbers.push(lock!.fence);
      await lock!.release();
      expect(lock!.isHeld).toBe(false);
    }
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
  });

  test('each source has its own', async () => {
    const locks = await Promise.all([nextSource(), nextSource()].map((source) => ground().one.tryAcquire(source)));
    expect(locks.every((lock) => lock?.isHeld)).toBe(true);
    await Promise.all(locks.map((lock) => lock!.release()));
  });

  test('who lost it cannot let go of the one who has it now', async () => {
    const source = nextSource();
    const frozen = (await ground().one.tryAcquire(source))!;
    await ground().lapse(frozen);
    const now = (await ground().other.tryAcquire(source))!;
    expect(now.fence).toBeGreaterThan(frozen.fence);
    await frozen.release().catch(() => undefined);
    expect(now.isHeld).toBe(true);
    expect(await ground().one.tryAcquire(source)).toBeUndefined();
    await now.release();
  });
}
