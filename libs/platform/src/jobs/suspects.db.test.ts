import { createTestRedis, type TestRedis } from '#testing/test-database';
import { Redis } from 'ioredis';
import { setTimeout as pause } from 'node:timers/promises';
import { Suspects } from './suspects.ts';

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

const suspects = (): Suspects => new Suspects(connection, '{test}:work', 2);
/** As if the worker died in the middle. */
const dying = (): Promise<never> => new Promise(() => undefined);

test('a suspect waits for the others and the others wait for it', async () => {
  const ward = suspects();
  const seen: string[] = [];
  const work = (name: string) => async (): Promise<void> => {
    seen.push(`${name} begins`);
    await pause(20);
    seen.push(`${name} ends`);
  };
  const first = ward.together(work('a'));
  const alone = ward.apart('j', work('suspect'));
  const later = ward.together(work('b'));
  await Promise.all([first, alone, later]);
  expect(seen).toEqual(['a begins', 'a ends', 'suspect begins', 'suspect ends', 'b begins', 'b ends']);
});

test('with its third worker dead a job is hopeless, and retried by a person it begins anew', async () => {
  for (let worker = 1; worker <= 2; worker += 1) {
    const began = suspects();
    void began.apart('deadly', dying);
    await pause(20);
    // Held back in between, because the dead worker's claim is still warm: no death, and none forgiven.
    if (worker === 1)
      await suspects()
        .apart('deadly', () => Promise.reject(new Error('held')))
        .catch(() => undefined);
  }
  await expect(suspects().apart('deadly', () => Promise.resolve('sent'))).rejects.toThrow('died with it in hand 3 times');
  expect(await suspects().apart('deadly', () => Promise.resolve('sent'))).toBe('sent');
});

test('failing is not dying', async () => {
  for (let time = 0; time < 5; time += 1) {
    await expect(suspects().apart('j', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  }
  expect(await connection.keys('*')).toEqual([]);
});
