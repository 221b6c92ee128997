import { spawn } from 'node:child_process';
import path from 'node:path';

const SELF_KILLING_CONSUMER = path.resolve(import.meta.dirname, 'self-killing-consumer.ts');

/** Runs self-killing-consumer.ts with these arguments in another process. Resolves to the signal that ended the process. */
export function runKilledConsumer(...args: string[]): Promise<string | null> {
  const flags = ['--conditions=source', '--experimental-transform-types', '--disable-warning=ExperimentalWarning'];
  const child = spawn(process.execPath, [...flags, SELF_KILLING_CONSUMER, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return new Promise((resolve) => child.on('exit', (code, signal) => resolve(signal ?? String(code))));
}
