import { failedAttempts, withFailureTime } from './failed-attempts.ts';

const stackOf = (error: Error): Promise<string> =>
  withFailureTime(Promise.reject(error)).then(
    () => '',
    (thrown: unknown) => (thrown as Error).stack ?? '',
  );

test('withFailureTime: one error object that fifty jobs share gets a single timestamp', async () => {
  const shared = new Error('no database');
  const stacks = await Promise.all(Array.from({ length: 50 }, () => stackOf(shared)));
  expect(new Set(stacks).size).toBe(1);
  expect(failedAttempts(stacks.slice(0, 1), undefined)).toMatchObject([
    { at: expect.stringMatching(/^\d{4}-/) as string, error: 'no database' },
  ]);
});
