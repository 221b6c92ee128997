import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const PROGRAM = path.resolve(import.meta.dirname, 'testing/watched-process.ts');
/** A tenth of the real interval, so that a process is killed after one second instead of ten. */
const SHORT_BEAT_MS = 100;

interface Watched {
  readonly child: ChildProcess;
  readonly ended: Promise<{ signal: string | null; code: number | null; afterMs: number; errors: string }>;
}

const started: ChildProcess[] = [];
afterAll(() => started.forEach((child) => child.kill('SIGKILL')));

/** Starts a process with a watchdog. Resolves when the watchdog runs. */
async function watched(beatMs: number, work: string, flags: readonly string[] = []): Promise<Watched> {
  const child = spawn(process.execPath, [...flags, PROGRAM, String(beatMs), work], { stdio: ['ignore', 'pipe', 'pipe'] });
  started.push(child);
  let errors = '';
  child.stderr.on('data', (text) => (errors += String(text)));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const upAt = performance.now();
  const ended = new Promise<Awaited<Watched['ended']>>((resolve) =>
    child.once('close', (code, signal) => resolve({ signal, code, afterMs: performance.now() - upAt, errors })),
  );
  return { child, ended };
}

async function isAliveAfter(ms: number, { child, ended }: Watched): Promise<boolean> {
  await Promise.race([ended, sleep(ms)]);
  const isAlive = child.exitCode === null && child.signalCode === null;
  child.kill('SIGKILL');
  await ended;
  return isAlive;
}

test('watchdog: a process whose event loop stands still is killed 10 to 15 s later, and says so in its last log line', async () => {
  const { ended } = await watched(1000, 'block');
  const { signal, afterMs, errors } = await ended;
  expect(signal).toBe('SIGKILL');
  // It begins to block two seconds after the start.
  expect(afterMs - 2000).toBeGreaterThan(9500);
  expect(afterMs - 2000).toBeLessThan(15_000);
  expect(JSON.parse(errors.trim())).toMatchObject({
    level: 'fatal',
    service: 'watched',
    msg: 'watched is killed: its event loop stood still for 10 s',
  });
});

test('negative control: without the watchdog the same process goes on', async () => {
  const { ended } = await watched(SHORT_BEAT_MS, 'unwatched');
  expect(await ended).toMatchObject({ signal: null, code: 0 });
});

test('watchdog: an idle process is not killed', async () => {
  expect(await isAliveAfter(2500, await watched(SHORT_BEAT_MS, 'idle'))).toBe(true);
});

test('watchdog: a process under full load, whose event loop stands still for half of the limit again and again, is not killed', async () => {
  const hogs = Array.from({ length: 4 }, () => spawn(process.execPath, ['-e', 'for (;;);']));
  started.push(...hogs);
  try {
    expect(await isAliveAfter(9000, await watched(SHORT_BEAT_MS * 5, 'load'))).toBe(true);
  } finally {
    for (const hog of hogs) hog.kill('SIGKILL');
  }
});

test('watchdog: a process that was paused as a whole (SIGSTOP) is not killed when it continues', async () => {
  const process_ = await watched(SHORT_BEAT_MS, 'idle');
  process_.child.kill('SIGSTOP');
  await sleep(2500);
  process_.child.kill('SIGCONT');
  expect(await isAliveAfter(1000, process_)).toBe(true);
});

test('watchdog: a process with a debugger is not killed', async () => {
  expect(await isAliveAfter(3000, await watched(SHORT_BEAT_MS, 'block', ['--inspect=127.0.0.1:0']))).toBe(true);
});
