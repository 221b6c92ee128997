import { JoinBatches, type WaitingJoin } from './join-batches.ts';

/** Answers batches when told to, and remembers them. */
function stage() {
  const sent: { users: string[]; answer: () => void; fail: (error: Error) => void }[] = [];
  const batches = new JoinBatches<string>(
    (joins: readonly WaitingJoin<string>[]) =>
      new Promise((resolve, reject) => {
        const users = joins.map(({ userId }) => userId);
        sent.push({ users, answer: () => resolve(users.map((user) => `place of ${user}`)), fail: reject });
      }),
  );
  return { batches, sent };
}

const users = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `fan ${from + at}`);
const settled = () => new Promise(setImmediate);

test('a lone join leaves at once; those who come meanwhile go together, at most 100, in the order of arrival', async () => {
  const { batches, sent } = stage();
  const answers = users(0, 250).map((user) => batches.add(user, ''));
  // The first alone, and a full one behind it; the rest might still become one.
  expect(sent.map((batch) => batch.users)).toEqual([users(0, 1), users(1, 101), users(101, 201)]);
  sent[0]!.answer();
  await settled();
  expect(sent).toHaveLength(3);
  for (const batch of sent.slice(1)) batch.answer();
  await settled();
  expect(sent[3]!.users).toEqual(users(201, 250));
  sent[3]!.answer();
  expect(await Promise.all(answers)).toEqual(users(0, 250).map((user) => `place of ${user}`));
  expect(batches.isIdle).toBe(true);
});

test('no more than ten batches are on their way', async () => {
  const { batches, sent } = stage();
  const answers = users(0, 1201).map((user) => batches.add(user, ''));
  expect(sent).toHaveLength(10);
  for (let at = 0; at < 13; at += 1) {
    sent[at]!.answer();
    await settled();
    expect(sent.length).toBe(Math.min(11 + at, 13));
  }
  expect(sent.flatMap((batch) => batch.users)).toEqual(users(0, 1201));
  await Promise.all(answers);
});

test('a fan who asks twice at once is in two batches', async () => {
  const { batches, sent } = stage();
  const answers = ['first', 'me', 'other', 'me'].map((user) => batches.add(user, ''));
  sent[0]!.answer();
  await settled();
  expect(sent[1]!.users).toEqual(['me', 'other']);
  sent[1]!.answer();
  await settled();
  expect(sent[2]!.users).toEqual(['me']);
  sent[2]!.answer();
  await Promise.all(answers);
});

test('a batch that fails fails for its own joins only', async () => {
  const { batches, sent } = stage();
  const answers = ['first', 'second', 'third'].map((user) => batches.add(user, ''));
  sent[0]!.fail(new Error('Redis is away'));
  await expect(answers[0]).rejects.toThrow('Redis is away');
  sent[1]!.answer();
  expect(await Promise.all(answers.slice(1))).toEqual(['place of second', 'place of third']);
});

describe('a batch that Redis does not answer in time', () => {
  const silence = new Error('Command timed out');

  test('takes those along who wait, where nothing else was answered meanwhile; who comes later is tried anew', async () => {
    const { batches, sent } = stage();
    const answers = ['first', 'second', 'third'].map((user) => batches.add(user, ''));
    sent[0]!.fail(silence);
    await Promise.all(answers.map((answer) => expect(answer).rejects.toThrow('timed out')));
    expect(sent).toHaveLength(1);
    expect(batches.isIdle).toBe(true);
    const later = batches.add('fourth', '');
    sent[1]!.answer();
    expect(await later).toBe('place of fourth');
  });

  test('is only slow where another one was answered: those who wait are sent', async () => {
    const { batches, sent } = stage();
    const answers = users(0, 150).map((user) => batches.add(user, ''));
    expect(sent).toHaveLength(2);
    sent[1]!.answer();
    await settled();
    sent[0]!.fail(silence);
    await expect(answers[0]).rejects.toThrow('timed out');
    sent[2]!.answer();
    expect(await Promise.all(answers.slice(1))).toEqual(users(1, 150).map((user) => `place of ${user}`));
  });
});
