import { Readable } from 'node:stream';
import { LargeAnswers } from './large-answers.ts';

async function read(stream: Readable): Promise<string> {
  const parts: Buffer[] = [];
  for await (const piece of stream) parts.push(Buffer.from(piece as string));
  return Buffer.concat(parts).toString();
}

test.each([
  ['ASCII', 'x'.repeat(100_000)],
  ['two bytes a character', 'š'.repeat(70_000)],
  ['halves of characters at each end of a piece', `x${'😀'.repeat(70_000)}`],
])('a text of %s is the same after it was cut into pieces', async (_what, text) => {
  expect(await read(new LargeAnswers().open(text))).toBe(text);
  expect(await read(new LargeAnswers().open(Buffer.from(text)))).toBe(text);
});

test('when the texts that clients are reading take too much memory, the readers of the oldest are given up', async () => {
  const answers = new LargeAnswers(250_000);
  const texts = ['a', 'b', 'c'].map((letter) => letter.repeat(100_000));
  const streams = texts.map((text) => [answers.open(text), answers.open(`${text.slice(1)}${text[0]}`)]).flat();
  for (const stream of streams) stream.on('error', () => undefined);
  expect(streams.map(({ destroyed }) => destroyed)).toEqual([true, true, false, false, false, false]);
  expect(await read(streams[5]!)).toBe(texts[2]);
});

test('a text that nobody reads any more takes no memory of the limit', async () => {
  const answers = new LargeAnswers(150_000);
  for (const letter of ['a', 'b', 'c']) expect(await read(answers.open(letter.repeat(100_000)))).toHaveLength(100_000);
});

test('a text above the limit alone is still sent', async () => {
  expect(await read(new LargeAnswers(10).open('x'.repeat(100_000)))).toHaveLength(100_000);
});
