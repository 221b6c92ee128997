import { AttemptWithoutEffect, backoffMs, retrySerializable } from './serializable.ts';

test.each([
  { failed: 1, min: 50, max: 150 },
  { failed: 2, min: 100, max: 300 },
  { failed: 3, min: 200, max: 600 },
  { failed: 4, min: 400, max: 1000 },
  { failed: 5, min: 800, max: 1000 },
])('after $failed failed attempts of a transaction the next attempt waits $min to $max ms', ({ failed, min, max }) => {
  expect(backoffMs(failed, () => 0)).toBe(min);
  expect(backoffMs(failed, () => 1)).toBe(max);
  expect(backoffMs(failed, () => 0.5)).toBe(Math.min(1000, 50 * 2 ** failed));
});

describe('retrySerializable: an attempt that lost its connection and had no effect', () => {
  /** Runs a transaction whose first `failures` attempts lose their connection; returns its result and the number of attempts. */
  async function attemptsWith(failures: number): Promise<{ result: unknown; attempts: number }> {
    let attempts = 0;
    const result: unknown = await retrySerializable(
      () => {
        attempts += 1;
        const isLost = attempts <= failures;
        return isLost ? Promise.reject(new AttemptWithoutEffect('', { cause: 'connection lost' })) : Promise.resolve('done');
      },
      {
        onRetry: () => expect('a connection loss').toBe('contention'),
        sleep: () => Promise.reject(new Error('paused')),
      },
    ).catch((error: unknown) => error);
    return { result, attempts };
  }

  test('is repeated without a pause and not counted as contention', async () => {
    expect(await attemptsWith(5)).toEqual({ result: 'done', attempts: 6 });
  });

  test('ends the transaction with the error of the driver if it was the sixth attempt', async () => {
    expect(await attemptsWith(6)).toEqual({ result: 'connection lost', attempts: 6 });
  });
});

test.each([
  ['1.1 s before the deadline an attempt is started', 1100, 1],
  ['0.9 s before the deadline no attempt is started, and the error is LOCK_TIMEOUT', 900, 0],
])('retrySerializable: %s', async (_name, timeLeftMs, started) => {
  let attempts = 0;
  const run = retrySerializable(() => Promise.resolve((attempts += 1)), {
    deadlineAt: Date.now() + timeLeftMs,
    onRetry: () => undefined,
  });
  if (started === 0) await expect(run).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
  else await run;
  expect(attempts).toBe(started);
});
