import { jest } from '@jest/globals';
import { Keeper } from './keeper.ts';
import type { Ending, Running } from './local-server.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Processes that live only in this test. */
function setUp({ failStarts = 0, isHopeless = (_ending: Ending): boolean => false } = {}) {
  const said: string[] = [];
  const running: { crash(code?: number): Promise<void> }[] = [];
  let alive = 0;
  let toFail = failStarts;
  const startUnit = async (): Promise<Running> => {
    if (toFail > 0) {
      toFail -= 1;
      throw new Error('no port');
    }
    alive += 1;
    let end = (_ending: Ending): void => undefined;
    const ended = new Promise<Ending>((resolve) => (end = resolve));
    let isOver = false;
    const finish = async (code: number) => {
      if (!isOver) alive -= 1;
      isOver = true;
      end({ code, words: `ended with exit code ${code}` });
      await jest.advanceTimersByTimeAsync(0);
    };
    running.push({ crash: (code = 1) => finish(code) });
    return { identity: { pid: running.length, startedAt: 'now' }, ended, stop: () => finish(0) };
  };
  const keeper = new Keeper('monolith', startUnit, { say: (line) => said.push(line), changed: () => undefined, isHopeless });
  return { keeper, said, running, alive: () => alive, started: () => running.length };
}

test('a crashed process is started again after a second, and the next crash waits twice as long', async () => {
  const { keeper, said, running, started } = setUp();
  await keeper.start();
  await running[0]!.crash();
  expect(keeper.identity).toBeUndefined();
  await jest.advanceTimersByTimeAsync(1_000);
  expect(started()).toBe(2);
  await running[1]!.crash();
  await jest.advanceTimersByTimeAsync(1_999);
  expect(started()).toBe(2);
  await jest.advanceTimersByTimeAsync(1);
  expect(started()).toBe(3);
  expect(said).toEqual([
    'monolith ended with exit code 1; starting it again in 1 s',
    'monolith ended with exit code 1; starting it again in 2 s',
  ]);
});

test('the wait never exceeds half a minute, and it never gives up', async () => {
  const { keeper, running, started, said } = setUp();
  await keeper.start();
  for (let crash = 0; crash < 20; crash += 1) {
    await running.at(-1)!.crash();
    await jest.advanceTimersByTimeAsync(30_000);
  }
  expect(started()).toBe(21);
  expect(said.at(-1)).toMatch(/in 30 s/);
});

test('after a minute of health the wait begins small again', async () => {
  const { keeper, running, said } = setUp();
  await keeper.start();
  await running[0]!.crash();
  await jest.advanceTimersByTimeAsync(62_000);
  await running[1]!.crash();
  expect(said.at(-1)).toMatch(/in 1 s/);
  await keeper.stop();
});

test('a start that fails later on is tried again; the first one is the caller’s', async () => {
  const { keeper } = setUp({ failStarts: 1 });
  await expect(keeper.start()).rejects.toThrow('no port');
});

test('stopped means stopped: neither a running process nor a planned start survives', async () => {
  const calm = setUp();
  await calm.keeper.start();
  await calm.keeper.stop();
  await calm.keeper.stop();
  const crashed = setUp();
  await crashed.keeper.start();
  await crashed.running[0]!.crash();
  await crashed.keeper.stop();
  await jest.advanceTimersByTimeAsync(60_000);
  expect([calm.alive(), crashed.alive(), crashed.started()]).toEqual([0, 0, 1]);
});

test('a restart on purpose is no crash', async () => {
  const { keeper, said, alive, started } = setUp();
  await keeper.start();
  await keeper.restart();
  expect([alive(), started(), said]).toEqual([1, 2, []]);
});

test('an end that a new start cannot mend is final', async () => {
  const { keeper, running, started } = setUp({ isHopeless: ({ code }) => code === 78 });
  await keeper.start();
  await running[0]!.crash(78);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(started()).toBe(1);
});
