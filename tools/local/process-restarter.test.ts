import { jest } from '@jest/globals';
import { ProcessRestarter } from './process-restarter.ts';
import type { ProcessEnd, RunningProcess } from './local-server.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A restarter whose processes are fakes that the test can crash. */
function setUp({ failStarts = 0, shouldNotRestart = (_ending: ProcessEnd): boolean => false } = {}) {
  const printed: string[] = [];
  const running: { crash(code?: number): Promise<void> }[] = [];
  let runningCount = 0;
  let toFail = failStarts;
  const startProcess = async (): Promise<RunningProcess> => {
    if (toFail > 0) {
      toFail -= 1;
      throw new Error('no port');
    }
    runningCount += 1;
    let end = (_ending: ProcessEnd): void => undefined;
    const ended = new Promise<ProcessEnd>((resolve) => (end = resolve));
    let hasEnded = false;
    const finishWith = async (code: number) => {
      if (!hasEnded) runningCount -= 1;
      hasEnded = true;
      end({ code, description: `ended with exit code ${code}` });
      await jest.advanceTimersByTimeAsync(0);
    };
    running.push({ crash: (code = 1) => finishWith(code) });
    return { identity: { pid: running.length, startedAt: 'now' }, ended, stop: () => finishWith(0) };
  };
  const restarter = new ProcessRestarter('monolith', startProcess, {
    say: (line) => printed.push(line),
    changed: () => undefined,
    shouldNotRestart,
  });
  return { restarter, printed, running, runningCount: () => runningCount, startCount: () => running.length };
}

test('a crashed process is started again after 1 s, and after the next crash after 2 s', async () => {
  const { restarter, printed, running, startCount } = setUp();
  await restarter.start();
  await running[0]!.crash();
  expect(restarter.identity).toBeUndefined();
  await jest.advanceTimersByTimeAsync(1_000);
  expect(startCount()).toBe(2);
  await running[1]!.crash();
  await jest.advanceTimersByTimeAsync(1_999);
  expect(startCount()).toBe(2);
  await jest.advanceTimersByTimeAsync(1);
  expect(startCount()).toBe(3);
  expect(printed).toEqual([
    'monolith ended with exit code 1; starting it again in 1 s',
    'monolith ended with exit code 1; starting it again in 2 s',
  ]);
});

test('the restart delay is at most 30 s, and the number of restarts has no limit', async () => {
  const { restarter, running, startCount, printed } = setUp();
  await restarter.start();
  for (let crash = 0; crash < 20; crash += 1) {
    await running.at(-1)!.crash();
    await jest.advanceTimersByTimeAsync(30_000);
  }
  expect(startCount()).toBe(21);
  expect(printed.at(-1)).toMatch(/in 30 s/);
});

test('after the process ran for a minute, the restart delay is 1 s again', async () => {
  const { restarter, running, printed } = setUp();
  await restarter.start();
  await running[0]!.crash();
  await jest.advanceTimersByTimeAsync(62_000);
  await running[1]!.crash();
  expect(printed.at(-1)).toMatch(/in 1 s/);
  await restarter.stop();
});

test('start() throws the failure of the first start', async () => {
  const { restarter } = setUp({ failStarts: 1 });
  await expect(restarter.start()).rejects.toThrow('no port');
});

test('stop() ends a running process and cancels a planned restart', async () => {
  const healthy = setUp();
  await healthy.restarter.start();
  await healthy.restarter.stop();
  await healthy.restarter.stop();
  const crashed = setUp();
  await crashed.restarter.start();
  await crashed.running[0]!.crash();
  await crashed.restarter.stop();
  await jest.advanceTimersByTimeAsync(60_000);
  expect([healthy.runningCount(), crashed.runningCount(), crashed.startCount()]).toEqual([0, 0, 1]);
});

test('restart() ends the process and starts a new one without a delay and without a crash message', async () => {
  const { restarter, printed, runningCount, startCount } = setUp();
  await restarter.start();
  await restarter.restart();
  expect([runningCount(), startCount(), printed]).toEqual([1, 2, []]);
});

test('a process is not started again if shouldNotRestart returns true for its exit code', async () => {
  const { restarter, running, startCount } = setUp({ shouldNotRestart: ({ code }) => code === 78 });
  await restarter.start();
  await running[0]!.crash(78);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(startCount()).toBe(1);
});
