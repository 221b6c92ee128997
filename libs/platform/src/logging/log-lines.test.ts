import { spawn } from 'node:child_process';
import path from 'node:path';

const PROGRAM = path.join(import.meta.dirname, 'testing/logging-process.ts');
const ALL = [1, 2, 3, 4];

interface Run {
  /** The numbers of the buffered lines that were written so far. */
  appended(): unknown[];
  /** Resolves when the process has appended all lines. */
  readonly hasAppended: Promise<unknown>;
  readonly ended: Promise<void>;
  kill(): void;
}

function run(end: string): Run {
  const flags = ['--conditions=source', '--experimental-transform-types', '--disable-warning=ExperimentalWarning'];
  const child = spawn(process.execPath, [...flags, PROGRAM, end], { stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  child.stdout.on('data', (data: Buffer) => (text += data.toString()));
  return {
    appended: () =>
      text.split('\n').flatMap((line) => (line.includes('buffered') ? [(JSON.parse(line) as { line: number }).line] : [])),
    hasAppended: new Promise((resolve) => child.stderr.once('data', resolve)),
    ended: new Promise((resolve) => child.once('close', () => resolve())),
    kill: () => child.kill('SIGKILL'),
  };
}

test.each(['exit', 'crash', 'drain', 'natural'])('buffered lines are not lost when the process ends by: %s', async (end) => {
  const { appended, ended } = run(end);
  await ended;
  expect(appended()).toEqual(ALL);
});

test.each([
  ['a second, if no other line comes', 'stay', 1000],
  ['350 ms, when another line is written', 'soon line', 350],
])('buffered lines are written within %s', async (_how, end, withinMs) => {
  const { appended, hasAppended, ended, kill } = run(end);
  await hasAppended;
  const giveUpAt = Date.now() + withinMs;
  while (appended().length < 4 && Date.now() < giveUpAt) await new Promise((resolve) => setTimeout(resolve, 10));
  const inTime = appended();
  kill();
  await ended;
  expect(inTime).toEqual(ALL);
});
