import type { Lock, LockFactory } from '../core/ports.ts';
import { sourceNamed } from './sources.ts';

/** Two lock factories under test. */
export interface LockSetup {
  /** Two factories, as in two processes. */
  readonly first: LockFactory;
  readonly second: LockFactory;
  /** Makes the lock expire, as if its holder were frozen or disconnected for longer than the lifetime of a lock. */
  expire(lock: Lock): Promise<void>;
}

/** The tests that every LockFactory must pass. */
export function lockFactoryContract(setup: () => LockSetup): void {
  let names = 0;
  const nextSource = () => sourceNamed(`locked-${(names += 1)}`);

  test('of eight simultaneous requests for the same lock one succeeds, and seven are refused at once', async () => {
    const source = nextSource();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => (index % 2 ? setup().first : setup().second).tryAcquire(source)),
    );
    const acquired = answers.filter((lock) => lock !== undefined);
    expect(acquired).toHaveLength(1);
    expect(acquired[0]!.isHeld).toBe(true);
    await acquired[0]!.release();
  });

  test('a released lock can be acquired again, each time with a greater lock number', async () => {
    const source = nextSource();
    const numbers: number[] = [];
    for (let repetition = 0; repetition < 4; repetition += 1) {
      const lock = await (repetition % 2 ? setup().first : setup().second).tryAcquire(source);
      numbers.push(lock!.lockNumber);
      await lock!.release();
      expect(lock!.isHeld).toBe(false);
    }
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
  });

  test('each source has its own lock', async () => {
    const locks = await Promise.all([nextSource(), nextSource()].map((source) => setup().first.tryAcquire(source)));
    expect(locks.every((lock) => lock?.isHeld)).toBe(true);
    await Promise.all(locks.map((lock) => lock!.release()));
  });

  test('a holder whose lock expired cannot release the lock of the new holder', async () => {
    const source = nextSource();
    const frozen = (await setup().first.tryAcquire(source))!;
    await setup().expire(frozen);
    const current = (await setup().second.tryAcquire(source))!;
    expect(current.lockNumber).toBeGreaterThan(frozen.lockNumber);
    await frozen.release().catch(() => undefined);
    expect(current.isHeld).toBe(true);
    expect(await setup().first.tryAcquire(source)).toBeUndefined();
    await current.release();
  });
}
