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

function readAvailable(): string {
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

test('LineWriter: lines arrive complete and in order', async () => {
  const writer = new LineWriter(pipe);
  for (let number = 1; number <= 3; number += 1) writer.write(`line ${number}`);
  expect(await writer.flush(1_000)).toBe(true);
  expect(readAvailable()).toBe('line 1\nline 2\nline 3\n');
});

test('LineWriter: a reader that stops reading does not block the writer; the reader loses lines and later reads how many were lost', async () => {
  const writer = new LineWriter(pipe, 100_000);
  // The pipe holds 64 KB, the writer's buffer about 1,000 lines; all other lines are lost.
  for (let number = 1; number <= 5_000; number += 1) writer.write('x'.repeat(99));
  expect(await writer.flush(50)).toBe(false);
  let text = '';
  for (let attempt = 0; attempt < 50 && !text.includes('lost'); attempt += 1) {
    text += readAvailable();
    await writer.flush(50);
  }
  text += readAvailable();
  const lost = Number(/\((\d+) lines lost/.exec(text)?.[1]);
  expect(lost).toBeGreaterThan(3_000);
  expect(text.split('\n').filter((line) => line.startsWith('x'))).toHaveLength(5_000 - lost);
});
