import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { endProcess, identify, isRunning } from './processes.ts';

async function start(script: string) {
  const child = spawn(process.execPath, ['-e', `${script}; console.log('up'); setInterval(() => {}, 1000)`]);
  await once(child.stdout, 'data');
  return { child, identity: identify(child.pid!)!, gone: once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]> };
}

test('a process keeps its name for life and loses it at its end', async () => {
  const { child, identity, gone } = await start('');
  expect(identify(child.pid!)).toEqual(identity);
  child.kill('SIGKILL');
  await gone;
  expect(isRunning(identity)).toBe(false);
});

test('one that listens is asked, one that does not is killed', async () => {
  const polite = await start('');
  await endProcess(polite.identity, 'SIGTERM', 5_000);
  expect((await polite.gone)[1]).toBe('SIGTERM');
  const deaf = await start("process.on('SIGTERM', () => {})");
  await endProcess(deaf.identity, 'SIGTERM', 100);
  expect((await deaf.gone)[1]).toBe('SIGKILL');
});

test('a process that only inherited the pid is left alone', async () => {
  const { child, identity } = await start('');
  await endProcess({ ...identity, startedAt: 'long ago' }, 'SIGTERM', 100);
  expect(isRunning(identity)).toBe(true);
  child.kill('SIGKILL');
});
