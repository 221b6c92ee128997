import { jest } from '@jest/globals';
import { createLogger } from '../logging/logger.ts';
import { PeriodicTask, type Run } from './periodic-task.ts';

let lines: { readonly level: string; readonly task: string; readonly msg: string }[];
const logger = createLogger({
  service: 'test',
  level: 'info',
  destination: { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]) },
});
const definition = { name: 'counter', everyMs: 1000, does: 'Counts its runs.', pausesAfterFailure: true };
let runs: number;
let task: PeriodicTask;

function started(runOnce: Run, changes: Partial<typeof definition> = {}): PeriodicTask {
  [runs, lines] = [0, []];
  task = new PeriodicTask({ ...definition, ...changes }, () => ((runs += 1), runOnce()), logger);
  task.start();
  return task;
}

const elapse = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

beforeEach(() => void jest.useFakeTimers());
afterEach(async () => {
  const stopped = task.stop();
  await elapse(2500);
  await stopped;
  jest.useRealTimers();
});

test('PeriodicTask: without work the task runs once a second', async () => {
  started(() => Promise.resolve(0));
  await elapse(3500);
  expect(runs).toBe(4);
});

test('PeriodicTask: runSoon starts a run at once', async () => {
  started(() => Promise.resolve(0));
  await elapse(10);
  task.runSoon();
  await elapse(0);
  expect(runs).toBe(2);
});

test('PeriodicTask: runSoon during a run starts a second run after it, because the current run may have missed the new message', async () => {
  const asked = started(() => new Promise((resolve) => setTimeout(() => resolve(0), 50)));
  await elapse(20);
  asked.runSoon();
  await elapse(31);
  expect(runs).toBe(2);
});

test('PeriodicTask: after a run that handled some items the next run starts without a pause', async () => {
  let left = 5;
  started(() => Promise.resolve((left -= 1)));
  await elapse(0);
  expect(runs).toBe(5);
});

test('PeriodicTask: after a failed run a task that pauses after failures pauses for two seconds, even if runSoon is called', async () => {
  started(() => Promise.reject(new Error('down')));
  for (let calls = 0; calls < 100; calls += 1) {
    task.runSoon();
    await elapse(19);
  }
  expect(runs).toBe(1);
  await elapse(200);
  expect(runs).toBe(2);
});

test('PeriodicTask: stop waits until the current run has ended, and no further run starts', async () => {
  let finished = false;
  started(async () => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    finished = true;
    return 1;
  });
  await elapse(10);
  let isStopped = false;
  const stopped = task.stop().then(() => (isStopped = true));
  await elapse(289);
  expect([finished, isStopped]).toEqual([false, false]);
  await elapse(1);
  await stopped;
  await elapse(5000);
  expect([runs, finished]).toEqual([1, true]);
});

test('PeriodicTask: after a failed run any other task runs again at its interval, and at once if runSoon is called', async () => {
  started(() => Promise.reject(new Error('down')), { pausesAfterFailure: false });
  await elapse(999);
  expect(runs).toBe(1);
  await elapse(1);
  expect(runs).toBe(2);
  task.runSoon();
  await elapse(0);
  expect(runs).toBe(3);
});

test('PeriodicTask: the interval counts from the end of a run, also of a run that takes longer than the interval', async () => {
  started(() => new Promise((resolve) => setTimeout(resolve, 2500)));
  await elapse(3499);
  expect(runs).toBe(1);
  await elapse(1);
  expect(runs).toBe(2);
});

/** A run of 2.5 s. It notes how many runs there were at the same time. */
function slowRun(): { readonly run: () => Promise<void>; mostAtOnce: number } {
  let current = 0;
  const slow = {
    mostAtOnce: 0,
    run: async () => {
      current += 1;
      slow.mostAtOnce = Math.max(slow.mostAtOnce, current);
      await new Promise((resolve) => setTimeout(resolve, 2500));
      current -= 1;
    },
  };
  return slow;
}

test('PeriodicTask: a task whose run takes longer than its interval never overlaps itself, also when runSoon is called', async () => {
  const slow = slowRun();
  started(slow.run);
  for (let calls = 0; calls < 100; calls += 1) {
    task.runSoon();
    await elapse(101);
  }
  expect([runs, slow.mostAtOnce]).toEqual([5, 1]);
});

test('negative control: with setInterval alone a run that takes longer than the interval overlaps itself', async () => {
  const slow = slowRun();
  started(() => undefined);
  const timer = setInterval(() => void slow.run(), 1000);
  await elapse(10_000);
  clearInterval(timer);
  expect(slow.mostAtOnce).toBe(3);
});

test('PeriodicTask: an outage is logged once at its start, however many runs fail, and once at its end', async () => {
  let isDown = false;
  started(() => (isDown ? Promise.reject(new Error('down')) : Promise.resolve()), { pausesAfterFailure: false });
  for (const [down, ms] of [
    [true, 5000],
    [false, 3000],
    [true, 1000],
  ] as const) {
    isDown = down;
    await elapse(ms);
  }
  expect(lines.map(({ level, task: name, msg }) => [level, name, msg])).toEqual([
    ['warn', 'counter', 'a run failed and will be repeated'],
    ['info', 'counter', 'the periodic task works again'],
    ['warn', 'counter', 'a run failed and will be repeated'],
  ]);
});

test('PeriodicTask: a run that throws before it returns a promise counts as failed', async () => {
  started(() => {
    throw new Error('broken');
  });
  await elapse(0);
  expect(lines).toMatchObject([{ err: { message: 'broken' }, does: 'Counts its runs.' }]);
});

test('PeriodicTask: runSoon does nothing before the start and after stop', async () => {
  started(() => undefined);
  await elapse(0);
  await task.stop();
  task.runSoon();
  await elapse(5000);
  expect(runs).toBe(1);
  const unstarted = new PeriodicTask(definition, () => void (runs += 1), logger);
  unstarted.runSoon();
  await elapse(5000);
  expect(runs).toBe(1);
});
