import { LineView, type LineMove } from './line-view.ts';

interface Fan {
  readonly name: string;
  readonly score: number;
}

/** Mulberry32: small, seeded, good enough to shuffle with. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const gone = (number: number, ...scores: number[]): LineMove => ({ number, isBack: false, scores });
const fan = (score: number): Fan => ({ name: `fan ${score}`, score });

function viewOf(fans: readonly Fan[], moves = 0): LineView<Fan> {
  const view = new LineView<Fan>(moves);
  fans.forEach((one, at) => view.add(one, { score: one.score, position: at + 1, asOf: moves }));
  return view;
}

describe('positions without asking', () => {
  test('who is behind a departure moves up, who is in front does not, and who left is named', () => {
    const [first, second, third] = [fan(10), fan(20), fan(30)] as const;
    const view = viewOf([first, second, third]);
    expect(view.apply([gone(1, 20)])).toEqual([second]);
    expect([view.positionOf(first, 10), view.positionOf(second, 20), view.positionOf(third, 30)]).toEqual([1, undefined, 2]);
    // Departures of fans of other pods count as well.
    view.apply([gone(2, 5, 25)]);
    expect([view.positionOf(first, 10), view.positionOf(third, 30)]).toEqual([0, 0]);
  });

  test('a place restored in the middle moves those behind back', () => {
    const view = viewOf([fan(10), fan(30)]);
    const third = fan(30);
    view.add(third, { score: 30, position: 2, asOf: 0 });
    view.apply([{ number: 1, isBack: true, scores: [20] }]);
    expect(view.positionOf(third, 30)).toBe(3);
  });

  test('a missing move is noticed', () => {
    const view = viewOf([fan(10)]);
    expect(view.apply([gone(2, 5)])).toBeUndefined();
  });

  test.each([
    ['older than the last moves', 3, 8],
    ['newer than the last moves', 7, 8],
  ])('a position read %s is brought in line with the others', (_when, asOf, position) => {
    const view = viewOf([], 0);
    view.apply([1, 2, 3, 4, 5].map((number) => gone(number, number)));
    const late = fan(100);
    // At move n the fan stands at 11 − n: everybody in front leaves one by one.
    expect(view.add(late, { score: 100, position: 11 - asOf, asOf })).toBe(true);
    view.apply([gone(6, 6), gone(7, 7), gone(8, 8)]);
    expect(view.positionOf(late, 100)).toBe(11 - position);
  });

  test('a position too old to be caught up with is refused', () => {
    const view = viewOf([]);
    view.apply(Array.from({ length: 100 }, (_, at) => gone(at + 1, at + 1)));
    expect(view.add(fan(1000), { score: 1000, position: 3, asOf: 20 })).toBe(false);
  });
});

describe('whom to tell', () => {
  test('everybody once, then at a step, at the time due, or when all should hear', () => {
    const [near, far] = [fan(10), fan(20)];
    const view = new LineView<Fan>(0);
    view.add(near, { score: 10, position: 5, asOf: 0 });
    view.add(far, { score: 20, position: 5000, asOf: 0 });
    const due = (nowMs: number) => view.takeDue(nowMs, () => nowMs + 30_000).map(({ fan: one, position }) => [one, position]);
    expect(due(0)).toEqual([
      [near, 5],
      [far, 5000],
    ]);
    expect(due(1000)).toEqual([]);
    view.apply([gone(1, 1)]);
    expect(due(2000)).toEqual([[near, 4]]);
    expect(due(30_000)).toEqual([[far, 4999]]);
    view.makeAllDue();
    expect(due(30_001)).toHaveLength(2);
  });

  test('those near the front alone, while the others wait for the regular round', () => {
    const fans = Array.from({ length: 100 }, (_, at) => fan(at + 10));
    const view = viewOf(fans);
    expect(view.takeDue(0, () => 30_000, { last: 20 })).toHaveLength(20);
    expect(view.takeDue(0, () => 30_000)).toHaveLength(80);
  });

  test('a few at a time: everybody due once, in order, also when fans leave and join in between', () => {
    const fans = Array.from({ length: 100 }, (_, at) => fan(at + 10));
    const view = viewOf(fans);
    const told: Fan[] = [];
    for (let due = view.takeDue(0, () => 30_000, { most: 30 }); due.length > 0;) {
      told.push(...due.map(({ fan: one }) => one));
      const after = due.at(-1)!.fan.score;
      view.remove(fans[told.length - 1]!, after);
      view.add(fan(after - 0.5), { score: after - 0.5, position: 1, asOf: 0 });
      due = view.takeDue(0, () => 30_000, { most: 30, after });
    }
    expect(told).toEqual(fans);
    // The newcomers stand in front of where it went on.
    expect(view.takeDue(0, () => 30_000)).toHaveLength(4);
  });

  test('who was told on arrival is not told again at once', () => {
    const view = new LineView<Fan>(0);
    view.add(fan(10), { score: 10, position: 1, asOf: 0 }, { toldStep: 1, dueAtMs: 30_000 });
    expect(view.takeDue(0, () => 0)).toEqual([]);
  });
});

/** A line of some hundred fans lives for 300 moves; a view of a third of them must agree with it after every step. */
function simulate(seed: number): void {
  const chance = random(seed);
  let line: Fan[] = Array.from({ length: 200 }, (_, at) => fan(1000 + at * 3));
  let [moves, nextScore] = [0, 5000];
  const followed = new Set(line.filter(() => chance() < 0.3));
  const view = new LineView<Fan>(0);
  for (const one of followed) view.add(one, { score: one.score, position: line.indexOf(one) + 1, asOf: 0 });
  let unread: LineMove[] = [];
  for (let step = 0; step < 300; step += 1) {
    const leavers = line.filter((_, at) => chance() < (at < 5 ? 0.3 : 0.004));
    line = line.filter((one) => !leavers.includes(one));
    if (leavers.length > 0) unread.push(gone((moves += 1), ...leavers.map(({ score }) => score)));
    const back = fan(1000 + Math.floor(chance() * 4000) + 0.5);
    if (chance() < 0.05 && !line.some(({ score }) => score === back.score)) {
      line = [...line, back].sort((a, b) => a.score - b.score);
      unread.push({ number: (moves += 1), isBack: true, scores: [back.score] });
    }
    const joined = fan((nextScore += 2));
    line.push(joined);
    // Read at this moment, while the view may be some moves behind.
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
    for (const one of view.apply(unread) ?? []) followed.delete(one);
    unread = [];
    for (const one of followed) {
      const truth = line.indexOf(one) + 1;
      if (view.positionOf(one, one.score) !== truth)
        throw new Error(`seed ${seed}, step ${step}: ${one.name} at ${truth}, view says ${view.positionOf(one, one.score)}`);
    }
    expect(view.size).toBe(followed.size);
  }
}

test('over 50 random lines every position agrees with the line itself after every step', () => {
  for (let seed = 1; seed <= 50; seed += 1) simulate(seed);
});

test('100,000 fans follow 700 departures, and only those whose step changed are told', () => {
  const view = new LineView<number>(0);
  for (let at = 1; at <= 100_000; at += 1) view.add(at, { score: at * 10, position: at, asOf: 0 });
  view.takeDue(0, () => 30_000);
  view.apply([gone(1, ...Array.from({ length: 700 }, (_, at) => (at + 1) * 10))]);
  const told = new Set(view.takeDue(1, () => 30_001).map(({ fan: one }) => one));
  expect(view.positionOf(100_000, 1_000_000)).toBe(99_300);
  // From 100,000 to 99,300: the same thousand or the next one, as it happens.
  expect([told.has(701), told.has(1699), told.has(99_700), told.has(99_701)]).toEqual([true, true, true, false]);
});
