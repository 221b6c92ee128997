import { jest } from '@jest/globals';
import { createLogger } from '../logging/logger.ts';
import { RelayLoop } from './relay-loop.ts';

const silent = createLogger({ service: 'test', level: 'silent' });
let rounds: number;
let loop: RelayLoop;

function started(runOnce: () => Promise<number>): RelayLoop {
  rounds = 0;
  loop = new RelayLoop('test', () => ((rounds += 1), runOnce()), silent, 1000);
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

test('with nothing to do it looks once a second', async () => {
  started(() => Promise.resolve(0));
  await elapse(3500);
  expect(rounds).toBe(4);
});

test('a nudge starts a round at once', async () => {
  started(() => Promise.resolve(0));
  await elapse(10);
  loop.nudge();
  await elapse(0);
  expect(rounds).toBe(2);
});

test('a nudge during a round starts another one after it: its message may have come too late for the first', async () => {
  const round = started(() => new Promise((resolve) => setTimeout(() => resolve(0), 50)));
  await elapse(20);
  round.nudge();
  await elapse(31);
  expect(rounds).toBe(2);
});

test('rounds that did something follow each other without a pause', async () => {
  let left = 5;
  started(() => Promise.resolve((left -= 1)));
  await elapse(0);
  expect(rounds).toBe(5);
});

test('after a failed round it rests two seconds, however often it is nudged', async () => {
  started(() => Promise.reject(new Error('down')));
  for (let nudges = 0; nudges < 100; nudges += 1) {
    loop.nudge();
    await elapse(19);
  }
  expect(rounds).toBe(1);
  await elapse(200);
  expect(rounds).toBe(2);
});

test('stopping waits for the round that runs and starts no other', async () => {
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
  expect([rounds, finished]).toEqual([1, true]);
});
