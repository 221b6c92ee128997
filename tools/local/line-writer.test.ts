import { spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { LineWriter } from './line-writer.ts';

let folder: string;
let pipe: number;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'tribina-lines-'));
  const file = path.join(folder, 'pipe');
  spawnSync('mkfifo', [file]);
  pipe = openSync(file, constants.O_RDWR | constants.O_NONBLOCK);
});
afterEach(() => {
  closeSync(pipe);
  rmSync(folder, { recursive: true });
});

function readWhatIsThere(): string {
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk = Buffer.alloc(65_536);
    try {
      chunks.push(chunk.subarray(0, readSync(pipe, chunk)));
    } catch {
      return Buffer.concat(chunks).toString();
    }
  }
}

test('lines arrive whole and in order', async () => {
  const writer = new LineWriter(pipe);
  for (let number = 1; number <= 3; number += 1) writer.write(`line ${number}`);
  expect(await writer.flush(1_000)).toBe(true);
  expect(readWhatIsThere()).toBe('line 1\nline 2\nline 3\n');
});

test('a reader that does not read holds nobody up, loses lines, and is told how many', async () => {
  const writer = new LineWriter(pipe, 100_000);
  // The first line goes straight into the pipe (64 KB), about 1,000 wait their turn, the rest is lost.
  for (let number = 1; number <= 5_000; number += 1) writer.write('x'.repeat(99));
  expect(await writer.flush(50)).toBe(false);
  let text = '';
  for (let round = 0; round < 50 && !text.includes('lost'); round += 1) {
    text += readWhatIsThere();
    await writer.flush(50);
  }
  text += readWhatIsThere();
  const lost = Number(/\((\d+) lines lost/.exec(text)?.[1]);
  expect(lost).toBeGreaterThan(3_000);
  expect(text.split('\n').filter((line) => line.startsWith('x'))).toHaveLength(5_000 - lost);
});
