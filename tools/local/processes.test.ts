import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { endProcess, identify, isRunning } from './processes.ts';

async function start(script: string) {
  const child = spawn(process.execPath, ['-e', `${script}; console.log('up'); setInterval(() => {}, 1000)`]);
  await once(child.stdout, 'data');
  return {
    child,
    identity: identify(child.pid!)!,
    exited: once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>,
  };
}

test('the identity of a process stays the same until the process ends; then isRunning is false', async () => {
  const { child, identity, exited } = await start('');
  expect(identify(child.pid!)).toEqual(identity);
  child.kill('SIGKILL');
  await exited;
  expect(isRunning(identity)).toBe(false);
});

test('endProcess sends the signal, and SIGKILL to a process that ignores the signal', async () => {
  const polite = await start('');
  await endProcess(polite.identity, 'SIGTERM', 5_000);
  expect((await polite.exited)[1]).toBe('SIGTERM');
  const stubborn = await start("process.on('SIGTERM', () => {})");
  await endProcess(stubborn.identity, 'SIGTERM', 100);
  expect((await stubborn.exited)[1]).toBe('SIGKILL');
});

test('endProcess does nothing to a process with the same pid but another start time', async () => {
  const { child, identity } = await start('');
  await endProcess({ ...identity, startedAt: 'long ago' }, 'SIGTERM', 100);
  expect(isRunning(identity)).toBe(true);
  child.kill('SIGKILL');
});
