import { spawn } from 'node:child_process';

test('fails: a child process keeps running', () => {
  spawn('sleep', ['20'], { stdio: 'ignore' });
});
