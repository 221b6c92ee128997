import { fork, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { LOGS_TO_STDERR, MONOLITH_FLAGS } from '../instruments/service.ts';
import type { BuyerAssignment, BuyerResult, FromWorker, ToWorker } from './worker.ts';

const SCRIPT = path.join(import.meta.dirname, 'worker.ts');

/**
 * Longest wait for an answer of a process of buyers. In the slowest runs the purchases that were started before the end time take
 * ten more seconds, so a process that needs 60 s hangs.
 */
const ANSWER_TIMEOUT_MS = 60_000;

/** Controls one process of buyers (worker.ts) over IPC. */
export class Buyers {
  readonly #child: ChildProcess;
  #onProgress: (bought: number) => void = () => undefined;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (message: FromWorker) => {
      if (message.type === 'progress') this.#onProgress(message.bought);
    });
  }

  static async open(assignment: BuyerAssignment): Promise<Buyers> {
    // The serialization 'advanced' supports typed arrays: a process returns about 100,000 latencies in one message.
    const buyers = new Buyers(
      fork(SCRIPT, [], {
        serialization: 'advanced',
        execArgv: ['--enable-source-maps', ...MONOLITH_FLAGS],
        stdio: LOGS_TO_STDERR,
      }),
    );
    await buyers.#request({ type: 'open', assignment }, 'open');
    return buyers;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Warms up the process. Resolves to the number of reservations made. */
  async warmUp(seconds: number): Promise<number> {
    return (await this.#request({ type: 'warm up', seconds }, 'warm')).bought;
  }

  async buy(seconds: number, onProgress: (bought: number) => void): Promise<BuyerResult> {
    this.#onProgress = onProgress;
    return (await this.#request({ type: 'buy', seconds }, 'done')).result;
  }

  switchToMatch(match: number): void {
    this.#send({ type: 'match', index: match });
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#send({ type: 'close' });
    const killTimer = setTimeout(() => this.#child.kill('SIGKILL'), 10_000);
    await exited;
    clearTimeout(killTimer);
  }

  #send(order: ToWorker): void {
    if (this.#child.connected) this.#child.send(order);
  }

  #request<K extends FromWorker['type']>(order: ToWorker, answer: K): Promise<Extract<FromWorker, { type: K }>> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: () => void): void => {
        this.#child.removeListener('message', onMessage);
        this.#child.removeListener('exit', onExit);
        clearTimeout(timeout);
        outcome();
      };
      const fail = (reason: string): void => settle(() => reject(new Error(reason)));
      const onMessage = (message: FromWorker): void => {
        if (message.type === answer) settle(() => resolve(message as Extract<FromWorker, { type: K }>));
        else if (message.type === 'failed') fail(`the buyers failed: ${message.reason}`);
      };
      const onExit = (): void => fail('the process of the buyers has exited; see its output above');
      const timeout = setTimeout(() => fail(`no answer to "${order.type}" within a minute`), ANSWER_TIMEOUT_MS);
      this.#child.on('message', onMessage);
      this.#child.once('exit', onExit);
      this.#send(order);
    });
  }
}
