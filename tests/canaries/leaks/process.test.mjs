import { spawn } from 'node:child_process';

test('a process that nobody ends', () => {
  spawn('sleep', ['4'], { stdio: 'ignore' });
});
