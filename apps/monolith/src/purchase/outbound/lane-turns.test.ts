import { LaneTurns } from './lane-turns.ts';

const soon = () => new Promise((resolve) => setTimeout(resolve, 5));

/** Asks for a turn; what has begun so far is in `log`. */
function lanes(turns: LaneTurns) {
  const log: string[] = [];
  const begin = (name: string, count: () => number) => turns.begin(count).then(() => log.push(name));
  return { log, begin };
}

test('few who wait let the batch under way finish', async () => {
  const turns = new LaneTurns(10);
  const { log, begin } = lanes(turns);
  await begin('one', () => 1);
  void begin('two', () => 9);
  await soon();
  expect(log).toEqual(['one']);
  turns.end();
  await soon();
  expect(log).toEqual(['one', 'two']);
});

test('enough for a batch of their own do not wait, nor who has become so many meanwhile', async () => {
  const turns = new LaneTurns(10);
  const { log, begin } = lanes(turns);
  await begin('one', () => 1);
  await begin('two', () => 10);
  let third = 9;
  void begin('three', () => third);
  turns.nudge();
  await soon();
  expect(log).toEqual(['one', 'two']);
  third = 10;
  turns.nudge();
  await soon();
  expect(log).toEqual(['one', 'two', 'three']);
});

test('who ends and begins again comes after who waits', async () => {
  const turns = new LaneTurns(10);
  const { log, begin } = lanes(turns);
  await begin('one', () => 1);
  void begin('two', () => 1);
  await soon();
  turns.end();
  void begin('one again', () => 1);
  await soon();
  expect(log).toEqual(['one', 'two']);
  turns.end();
  await soon();
  expect(log).toEqual(['one', 'two', 'one again']);
});

test('a batch that hangs holds the other lane up for moments only', async () => {
  const turns = new LaneTurns(10);
  const { log, begin } = lanes(turns);
  await begin('hangs', () => 1);
  await begin('two', () => 1);
  expect(log).toEqual(['hangs', 'two']);
});
