import { jest } from '@jest/globals';
import { PendingHolds, type PendingHold } from './pending-holds.ts';

/** Indices of the seats that another batch has proposed. */
let inAnotherBatch: number[];
beforeEach(() => (inAnotherBatch = []));

const snapshot = { beingDecided: (seats: readonly number[]) => seats.filter((seat) => inAnotherBatch.includes(seat)) };

function holdOf(userId: string, chosen?: readonly number[]): PendingHold {
  return { request: { userId }, chosen, snapshot } as unknown as PendingHold;
}

function pendingOf(count: number): PendingHolds {
  const pending = new PendingHolds();
  for (let fan = 0; fan < count; fan += 1) pending.add(holdOf(`fan ${fan}`));
  return pending;
}

const fansOf = (batch: readonly PendingHold[]): string[] => batch.map(({ request }) => request.userId);

test('PendingHolds: a batch contains all waiting requests, in the order of their arrival', () => {
  const pending = pendingOf(64);
  expect(fansOf(pending.takeBatch())).toEqual(Array.from({ length: 64 }, (_, fan) => `fan ${fan}`));
  expect(pending.count).toBe(0);
});

test('PendingHolds: a single request is worth a batch when no other batch is being committed', () => {
  const pending = pendingOf(1);
  expect([pending.isBatchWorthwhile, pending.takeBatch().length]).toEqual([true, 1]);
});

test('PendingHolds: while another batch is being committed, fewer than 128 requests wait until that batch is done', () => {
  const pending = pendingOf(40);
  const first = pending.takeBatch();
  for (let fan = 0; fan < 127; fan += 1) pending.add(holdOf(`later fan ${fan}`));
  expect([pending.isBatchWorthwhile, pending.takeBatch()]).toEqual([false, []]);
  pending.add(holdOf('128th'));
  expect([pending.isBatchWorthwhile, pending.takeBatch().length]).toEqual([true, 128]);
  pending.add(holdOf('last'));
  expect(pending.takeBatch()).toEqual([]);
  pending.batchDone(first);
  expect(pending.takeBatch()).toEqual([]);
});

test('PendingHolds: a request that waited for another batch is taken as soon as that batch is done', () => {
  const pending = pendingOf(2);
  const first = pending.takeBatch();
  pending.add(holdOf('later fan'));
  pending.batchDone(first);
  expect(fansOf(pending.takeBatch())).toEqual(['later fan']);
});

test('PendingHolds: when a batch takes longer than 50 ms, even one waiting request is worth the next batch', () => {
  const pending = pendingOf(2);
  pending.takeBatch();
  pending.add(holdOf('later fan'));
  expect(pending.isBatchWorthwhile).toBe(false);
  const now = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 60);
  expect(fansOf(pending.takeBatch())).toEqual(['later fan']);
  now.mockRestore();
});

test('PendingHolds: a batch has at most 256 requests', () => {
  expect(pendingOf(2000).takeBatch()).toHaveLength(256);
});

test('PendingHolds: two requests of one fan are never in a batch at the same time', () => {
  const pending = new PendingHolds();
  for (const fan of ['a', 'a', 'b']) pending.add(holdOf(fan));
  const first = pending.takeBatch();
  expect(fansOf(first)).toEqual(['a', 'b']);
  pending.batchDone(first);
  expect(fansOf(pending.takeBatch())).toEqual(['a']);
});

test('PendingHolds: a request for chosen seats that another batch has proposed waits, and later requests pass it', () => {
  const pending = pendingOf(0);
  inAnotherBatch = [1];
  pending.add(holdOf('a', [1, 2]));
  pending.add(holdOf('b'));
  const first = pending.takeBatch();
  expect(fansOf(first)).toEqual(['b']);
  inAnotherBatch = [];
  pending.batchDone(first);
  expect(fansOf(pending.takeBatch())).toEqual(['a']);
});

test('PendingHolds: requests that must wait keep their order', () => {
  const pending = pendingOf(0);
  inAnotherBatch = [1];
  for (const fan of ['a', 'b']) pending.add(holdOf(fan, [1]));
  pending.add(holdOf('c'));
  const first = pending.takeBatch();
  expect(fansOf(first)).toEqual(['c']);
  inAnotherBatch = [];
  pending.add(holdOf('d'));
  pending.batchDone(first);
  expect(fansOf(pending.takeBatch())).toEqual(['a', 'b', 'd']);
});

test('PendingHolds: a request that is tried again comes before later ones', () => {
  const pending = pendingOf(300);
  const first = pending.takeBatch();
  pending.addFirst(first[0]!);
  expect(pending.count).toBe(45);
  pending.batchDone(first);
  expect(fansOf(pending.takeBatch())[0]).toBe('fan 0');
});
