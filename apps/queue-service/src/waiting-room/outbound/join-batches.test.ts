import { joinBatches, type QueuedJoin } from './join-batches.ts';

/** Join batches whose replies the test controls: `sent` has each batch with functions that answer it or let it fail. */
function setUp() {
  const sent: { users: string[]; answer: () => void; fail: (error: Error) => void }[] = [];
  const idle = { count: 0 };
  const batches = joinBatches<string>(
    (joins: readonly QueuedJoin[]) =>
      new Promise((resolve, reject) => {
        const users = joins.map(({ userId }) => userId);
        sent.push({ users, answer: () => resolve(users.map((user) => `entry of ${user}`)), fail: reject });
      }),
    () => (idle.count += 1),
  );
  return { batches, sent, idle };
}

const users = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `fan ${from + index}`);
const settled = () => new Promise(setImmediate);

test('join batches: a single join is sent at once; joins that arrive before its reply are sent in batches of at most 100 in order of arrival', async () => {
  const { batches, sent, idle } = setUp();
  const answers = users(0, 250).map((user) => batches.add({ userId: user, receiptScore: '' }));
  // The first join alone and two full batches are sent. The remaining 49 joins wait, because their batch is not full.
  expect(sent.map((batch) => batch.users)).toEqual([users(0, 1), users(1, 101), users(101, 201)]);
  sent[0]!.answer();
  await settled();
  expect(sent).toHaveLength(3);
  for (const batch of sent.slice(1)) batch.answer();
  await settled();
  expect(sent[3]!.users).toEqual(users(201, 250));
  sent[3]!.answer();
  expect(await Promise.all(answers)).toEqual(users(0, 250).map((user) => `entry of ${user}`));
  expect(idle.count).toBe(1);
});

test('join batches: at most ten batches are sent before the first is answered', async () => {
  const { batches, sent } = setUp();
  const answers = users(0, 1201).map((user) => batches.add({ userId: user, receiptScore: '' }));
  expect(sent).toHaveLength(10);
  for (let index = 0; index < 13; index += 1) {
    sent[index]!.answer();
    await settled();
    expect(sent.length).toBe(Math.min(11 + index, 13));
  }
  expect(sent.flatMap((batch) => batch.users)).toEqual(users(0, 1201));
  await Promise.all(answers);
});

test('join batches: two joins of the same fan are sent in two batches', async () => {
  const { batches, sent } = setUp();
  const answers = ['first', 'me', 'other', 'me'].map((user) => batches.add({ userId: user, receiptScore: '' }));
  sent[0]!.answer();
  await settled();
  expect(sent[1]!.users).toEqual(['me', 'other']);
  sent[1]!.answer();
  await settled();
  expect(sent[2]!.users).toEqual(['me']);
  sent[2]!.answer();
  await Promise.all(answers);
});

test('join batches: when a batch of joins fails, only the joins of this batch are rejected', async () => {
  const { batches, sent } = setUp();
  const answers = ['first', 'second', 'third'].map((user) => batches.add({ userId: user, receiptScore: '' }));
  sent[0]!.fail(new Error('Redis is down'));
  await expect(answers[0]).rejects.toThrow('Redis is down');
  sent[1]!.answer();
  expect(await Promise.all(answers.slice(1))).toEqual(['entry of second', 'entry of third']);
});

describe('a join batch that times out', () => {
  const timeout = new Error('Command timed out');

  test('rejects its joins and all waiting joins if no other batch was answered meanwhile; a later join is sent', async () => {
    const { batches, sent, idle } = setUp();
    const answers = ['first', 'second', 'third'].map((user) => batches.add({ userId: user, receiptScore: '' }));
    sent[0]!.fail(timeout);
    await Promise.all(answers.map((answer) => expect(answer).rejects.toThrow('timed out')));
    expect(sent).toHaveLength(1);
    expect(idle.count).toBe(1);
    const later = batches.add({ userId: 'fourth', receiptScore: '' });
    sent[1]!.answer();
    expect(await later).toBe('entry of fourth');
  });

  test('rejects only its own joins if another batch was answered meanwhile; waiting joins are sent', async () => {
    const { batches, sent } = setUp();
    const answers = users(0, 150).map((user) => batches.add({ userId: user, receiptScore: '' }));
    expect(sent).toHaveLength(2);
    sent[1]!.answer();
    await settled();
    sent[0]!.fail(timeout);
    await expect(answers[0]).rejects.toThrow('timed out');
    sent[2]!.answer();
    expect(await Promise.all(answers.slice(1))).toEqual(users(1, 150).map((user) => `entry of ${user}`));
  });
});
