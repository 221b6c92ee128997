// Jest's environment for every test file: Node's own, and a file fails that leaves a socket, a server, a child process or a timer open.
// Otherwise Jest would not end by itself, and would kill its workers.
import { TestEnvironment } from 'jest-environment-node';
import { leftOpen, openResources } from './open-resources.mjs';

export default class LeakCheckedEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    // Node opens these when they are first read; they belong to the process.
    void [process.stdin, process.stdout, process.stderr];
    this.before = openResources();
  }

  async teardown() {
    const left = this.before ? await leftOpen(this.before) : [];
    await super.teardown();
    if (left.length === 0) return;
    throw new Error(
      `This file leaves open: ${left.join(', ')}. Close it in afterAll; \`npm run jest -- --detectOpenHandles <file>\` shows where it was opened.`,
    );
  }
}
