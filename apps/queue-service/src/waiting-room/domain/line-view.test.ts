import { LineView, type LineMove } from './line-view.ts';
import { positionsIn } from '../testing/view-positions.ts';

interface Fan {
  readonly name: string;
  readonly score: number;
}

/** Mulberry32, a small seeded random generator. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const departure = (number: number, ...scores: number[]): LineMove => ({ number, isBack: false, scores });
const fan = (score: number): Fan => ({ name: `fan ${score}`, score });

function viewOf(fans: readonly Fan[], moves = 0): LineView<Fan> {
  const view = new LineView<Fan>(moves);
  fans.forEach((each, index) => view.add(each, { score: each.score, position: index + 1, asOf: moves }));
  return view;
}

describe('LineView: positions computed from moves (numbered departures and returns)', () => {
  test('when a fan leaves, fans behind move up, fans in front stay, and apply returns the fan who left', () => {
    const [first, second, third] = [fan(10), fan(20), fan(30)] as const;
    const view = viewOf([first, second, third]);
    expect(view.apply([departure(1, 20)])).toEqual([second]);
    expect(positionsIn(view)).toEqual(
      new Map([
        [first, 1],
        [third, 2],
      ]),
    );
    // Departures of fans who are connected to other pods count as well.
    view.apply([departure(2, 5, 25)]);
    expect([...positionsIn(view).values()]).toEqual([0, 0]);
  });

  test('a queue entry restored in the middle moves the fans behind it back by one', () => {
    const view = viewOf([fan(10), fan(30)]);
    const third = fan(30);
    view.add(third, { score: 30, position: 2, asOf: 0 });
    view.apply([{ number: 1, isBack: true, scores: [20] }]);
    expect(positionsIn(view).get(third)).toBe(3);
  });

  test('a gap in the move numbers makes apply return undefined', () => {
    const view = viewOf([fan(10)]);
    expect(view.apply([departure(2, 5)])).toBeUndefined();
  });

  test.each([
    ['before the last move that the view has applied', 3, 8],
    ['after a move that the view has not applied yet', 7, 8],
  ])('a fan whose position was read %s has the right position after further moves', (_when, asOf, position) => {
    const view = viewOf([], 0);
    view.apply([1, 2, 3, 4, 5].map((number) => departure(number, number)));
    const late = fan(100);
    // After move n the fan's position is 11 − n, because each move removes one fan in front.
    expect(view.add(late, { score: 100, position: 11 - asOf, asOf })).toBe(true);
    view.apply([departure(6, 6), departure(7, 7), departure(8, 8)]);
    expect(positionsIn(view).get(late)).toBe(11 - position);
  });

  test('add returns false for a position so old that the view no longer keeps all moves since then', () => {
    const view = viewOf([]);
    view.apply(Array.from({ length: 100 }, (_, index) => departure(index + 1, index + 1)));
    expect(view.add(fan(1000), { score: 1000, position: 3, asOf: 20 })).toBe(false);
  });
});

describe('LineView: fans who are due for a message', () => {
  test('a new fan is due at once, and due again when the position step (rounded position) changes, at the due time, or after makeAllDue', () => {
    const [near, far] = [fan(10), fan(20)];
    const view = new LineView<Fan>(0);
    view.add(near, { score: 10, position: 5, asOf: 0 });
    view.add(far, { score: 20, position: 5000, asOf: 0 });
    const due = (nowMs: number) => view.takeDue(nowMs, () => nowMs + 30_000).map((message) => [message.fan, message.position]);
    expect(due(0)).toEqual([
      [near, 5],
      [far, 5000],
    ]);
    expect(due(1000)).toEqual([]);
    view.apply([departure(1, 1)]);
    expect(due(2000)).toEqual([[near, 4]]);
    expect(due(30_000)).toEqual([[far, 4999]]);
    view.makeAllDue();
    expect(due(30_001)).toHaveLength(2);
  });

  test('with maxPosition takeDue returns only fans near the front; fans further back stay due', () => {
    const fans = Array.from({ length: 100 }, (_, index) => fan(index + 10));
    const view = viewOf(fans);
    expect(view.takeDue(0, () => 30_000, { maxPosition: 20 })).toHaveLength(20);
    expect(view.takeDue(0, () => 30_000)).toHaveLength(80);
  });

  test('takeDue in batches returns every fan once and in line order, even when fans leave and join between batches', () => {
    const fans = Array.from({ length: 100 }, (_, index) => fan(index + 10));
    const view = viewOf(fans);
    const taken: Fan[] = [];
    for (let due = view.takeDue(0, () => 30_000, { limit: 30 }); due.length > 0;) {
      taken.push(...due.map((message) => message.fan));
      const afterScore = due.at(-1)!.fan.score;
      view.remove(fans[taken.length - 1]!, afterScore);
      view.add(fan(afterScore - 0.5), { score: afterScore - 0.5, position: 1, asOf: 0 });
      due = view.takeDue(0, () => 30_000, { limit: 30, afterScore });
    }
    expect(taken).toEqual(fans);
    // The four new fans were added in front of fans already taken, so no later batch returned them and they are still due.
    expect(view.takeDue(0, () => 30_000)).toHaveLength(4);
  });

  test('a fan who already got the position message on connecting is not due before the due time', () => {
    const view = new LineView<Fan>(0);
    view.add(fan(10), { score: 10, position: 1, asOf: 0 }, { sentStep: 1, dueAtMs: 30_000 });
    expect(view.takeDue(0, () => 0)).toEqual([]);
  });
});

/**
 * Runs 300 random steps on a line of some hundred fans. A LineView of some of these fans must agree with the line whenever it has
 * applied all moves.
 */
function simulate(seed: number): void {
  const chance = random(seed);
  let line: Fan[] = Array.from({ length: 200 }, (_, index) => fan(1000 + index * 3));
  let [moves, nextScore] = [0, 5000];
  const followed = new Set(line.filter(() => chance() < 0.3));
  const view = new LineView<Fan>(0);
  for (const each of followed) view.add(each, { score: each.score, position: line.indexOf(each) + 1, asOf: 0 });
  let unread: LineMove[] = [];
  for (let step = 0; step < 300; step += 1) {
    const leavers = line.filter((_, index) => chance() < (index < 5 ? 0.3 : 0.004));
    line = line.filter((each) => !leavers.includes(each));
    if (leavers.length > 0) unread.push(departure((moves += 1), ...leavers.map(({ score }) => score)));
    const back = fan(1000 + Math.floor(chance() * 4000) + 0.5);
    if (chance() < 0.05 && !line.some(({ score }) => score === back.score)) {
      line = [...line, back].sort((a, b) => a.score - b.score);
      unread.push({ number: (moves += 1), isBack: true, scores: [back.score] });
    }
    const joined = fan((nextScore += 2));
    line.push(joined);
    // The added position includes all moves, while the view may not have applied the last ones yet.
    if (chance() < 0.5) {
      followed.add(joined);
      view.add(joined, { score: joined.score, position: line.length, asOf: moves });
    }
    if (chance() < 0.05) {
      const [quitter] = followed;
      if (quitter) view.remove(quitter, quitter.score);
      if (quitter) followed.delete(quitter);
    }
    if (chance() < 0.4) continue;
    for (const each of view.apply(unread) ?? []) followed.delete(each);
    unread = [];
    const positions = positionsIn(view);
    for (const each of followed) {
      const expected = line.indexOf(each) + 1;
      const position = positions.get(each);
      if (position !== expected)
        throw new Error(`seed ${seed}, step ${step}: ${each.name} is at ${expected}, view says ${position}`);
    }
    expect(positions.size).toBe(followed.size);
  }
}

test('LineView: in 50 random lines every position in the view is the position in the line', () => {
  for (let seed = 1; seed <= 50; seed += 1) simulate(seed);
});

test('LineView: after 700 departures the last of 100,000 fans stands 700 positions nearer, and only fans whose position step (rounded position) changed are due', () => {
  const view = new LineView<number>(0);
  for (let index = 1; index <= 100_000; index += 1) view.add(index, { score: index * 10, position: index, asOf: 0 });
  view.takeDue(0, () => 30_000);
  view.apply([departure(1, ...Array.from({ length: 700 }, (_, index) => (index + 1) * 10))]);
  const taken = new Set(view.takeDue(1, () => 30_001).map((message) => message.fan));
  expect(positionsIn(view).get(100_000)).toBe(99_300);
  // All fans moved up by 700. Behind position 10,000 only fans who crossed a multiple of 1,000 are due for a message.
  expect([taken.has(701), taken.has(1699), taken.has(99_700), taken.has(99_701)]).toEqual([true, true, true, false]);
});
