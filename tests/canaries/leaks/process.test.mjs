import { spawn } from 'node:child_process';

test('fails: a child process keeps running', () => {
  spawn('sleep', ['4'], { stdio: 'ignore' });
});
