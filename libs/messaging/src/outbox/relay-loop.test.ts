import { jest } from '@jest/globals';
import { createLogger } from '#platform/logging/logger';
import { RelayLoop } from './relay-loop.ts';

const silent = createLogger({ service: 'test', level: 'silent' });
let runs: number;
let loop: RelayLoop;

function started(runOnce: () => Promise<number>): RelayLoop {
  runs = 0;
  loop = new RelayLoop('test', () => ((runs += 1), runOnce()), silent, 1000);
  loop.start();
  return loop;
}

const elapse = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

beforeEach(() => void jest.useFakeTimers());
afterEach(async () => {
  const stopped = loop.stop();
  await elapse(100);
  await stopped;
  jest.useRealTimers();
});

test('RelayLoop: without work the loop runs once a second', async () => {
  started(() => Promise.resolve(0));
  await elapse(3500);
  expect(runs).toBe(4);
});

test('RelayLoop: a nudge starts a run at once', async () => {
  started(() => Promise.resolve(0));
  await elapse(10);
  loop.nudge();
  await elapse(0);
  expect(runs).toBe(2);
});

test('RelayLoop: a nudge during a run starts a second run after it, because the running one may have missed the new message', async () => {
  const nudged = started(() => new Promise((resolve) => setTimeout(() => resolve(0), 50)));
  await elapse(20);
  nudged.nudge();
  await elapse(31);
  expect(runs).toBe(2);
});

test('RelayLoop: after a run that handled some items the next run starts without a pause', async () => {
  let left = 5;
  started(() => Promise.resolve((left -= 1)));
  await elapse(0);
  expect(runs).toBe(5);
});

test('RelayLoop: after a failed run the loop pauses for two seconds, even if it is nudged', async () => {
  started(() => Promise.reject(new Error('down')));
  for (let nudges = 0; nudges < 100; nudges += 1) {
    loop.nudge();
    await elapse(19);
  }
  expect(runs).toBe(1);
  await elapse(200);
  expect(runs).toBe(2);
});

test('RelayLoop: stop waits until the current run has ended, and no further run starts', async () => {
  let finished = false;
  started(async () => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    finished = true;
    return 1;
  });
  await elapse(10);
  const stopped = loop.stop();
  await elapse(300);
  await stopped;
  expect([runs, finished]).toEqual([1, true]);
});
