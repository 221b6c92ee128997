// The Jest environment of every test file: Node's environment plus a leak check. A test file that leaves a socket, a server, a child
// process or a timer open fails. Without the check Jest would not exit by itself and would have to kill its workers.
import { TestEnvironment } from 'jest-environment-node';
import { openResources, waitForLeaksToClose } from './open-resources.mjs';

export default class LeakCheckedEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    // Read the standard streams, so that Node opens them before we count: they belong to the process, not to the test file.
    void [process.stdin, process.stdout, process.stderr];
    this.openBefore = openResources();
  }

  async teardown() {
    const leaks = this.openBefore ? await waitForLeaksToClose(this.openBefore) : [];
    await super.teardown();
    if (leaks.length === 0) return;
    throw new Error(
      `This file leaves open: ${leaks.join(', ')}. Close it in afterAll; \`npm run jest -- --detectOpenHandles <file>\` shows where it was opened.`,
    );
  }
}
