import { createTestRedis, type TestRedis } from '#testing/test-database';
import { Redis } from 'ioredis';
import { setTimeout as pause } from 'node:timers/promises';
import { CrashSuspects } from './crash-suspects.ts';

let testRedis: TestRedis;
let connection: Redis;

beforeAll(async () => {
  testRedis = await createTestRedis();
  connection = new Redis(testRedis.url);
});
beforeEach(() => testRedis.flush());
afterAll(async () => {
  await connection.quit();
  await testRedis.close();
});

const openSuspects = (): CrashSuspects => new CrashSuspects(connection, '{test}:work', 2);
/** Work of a job that never ends, as if the worker process died while doing it. */
const neverEnding = (): Promise<never> => new Promise(() => undefined);

test('a job suspected of crashing a worker starts when all running jobs have ended, and later jobs wait until it has ended', async () => {
  const suspects = openSuspects();
  const seen: string[] = [];
  const work = (name: string) => async (): Promise<void> => {
    seen.push(`${name} begins`);
    await pause(20);
    seen.push(`${name} ends`);
  };
  const first = suspects.runShared(work('a'));
  const alone = suspects.runAlone('j', work('suspect'));
  const later = suspects.runShared(work('b'));
  await Promise.all([first, alone, later]);
  expect(seen).toEqual(['a begins', 'a ends', 'suspect begins', 'suspect ends', 'b begins', 'b ends']);
});

test('a suspected job fails for good after its third crash, and its crash count starts at zero when an operator retries it', async () => {
  for (let worker = 1; worker <= 2; worker += 1) {
    void openSuspects().runAlone('deadly', neverEnding);
    await pause(20);
    // Between the crashes the job is held back once, like a job whose claim (the mark set before a send) still belongs to the
    // dead worker. Being held back neither adds nor removes a crash.
    if (worker === 1)
      await openSuspects()
        .runAlone('deadly', () => Promise.reject(new Error('held')))
        .catch(() => undefined);
  }
  await expect(openSuspects().runAlone('deadly', () => Promise.resolve('sent'))).rejects.toThrow(
    'died while handling it 3 times',
  );
  expect(await openSuspects().runAlone('deadly', () => Promise.resolve('sent'))).toBe('sent');
});

test('a suspected job that fails without crashing the worker does not count as a crash', async () => {
  for (let time = 0; time < 5; time += 1) {
    await expect(openSuspects().runAlone('j', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  }
  expect(await connection.keys('*')).toEqual([]);
});
