import { fork, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { LOGS_TO_STDERR, MONOLITH_FLAGS } from '../instruments/service.ts';
import type { Assignment, Bought, FromWorker, ToWorker } from './worker.ts';

const SCRIPT = path.join(import.meta.dirname, 'worker.ts');

/** The slowest runs drain for ten seconds; whoever takes longer than this hangs. */
const PATIENCE_MS = 60_000;

/** Our end of one process of buyers (worker.ts). */
export class Buyers {
  readonly #child: ChildProcess;
  #onProgress: (bought: number) => void = () => undefined;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (message: FromWorker) => {
      if (message.say === 'progress') this.#onProgress(message.bought);
    });
  }

  static async open(assignment: Assignment): Promise<Buyers> {
    // 'advanced' carries typed arrays: some 100,000 latencies come home in one message.
    const buyers = new Buyers(
      fork(SCRIPT, [], {
        serialization: 'advanced',
        execArgv: ['--enable-source-maps', ...MONOLITH_FLAGS],
        stdio: LOGS_TO_STDERR,
      }),
    );
    await buyers.#ask({ say: 'open', assignment }, 'open');
    return buyers;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Resolves to how many reservations that made. */
  async warmUp(seconds: number): Promise<number> {
    return (await this.#ask({ say: 'warm up', seconds }, 'warm')).bought;
  }

  async buy(seconds: number, onProgress: (bought: number) => void): Promise<Bought> {
    this.#onProgress = onProgress;
    return (await this.#ask({ say: 'buy', seconds }, 'done')).result;
  }

  goOnWith(match: number): void {
    this.#tell({ say: 'match', index: match });
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#tell({ say: 'close' });
    const insist = setTimeout(() => this.#child.kill('SIGKILL'), 10_000);
    await gone;
    clearTimeout(insist);
  }

  #tell(order: ToWorker): void {
    if (this.#child.connected) this.#child.send(order);
  }

  #ask<K extends FromWorker['say']>(order: ToWorker, answer: K): Promise<Extract<FromWorker, { say: K }>> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: () => void): void => {
        this.#child.removeListener('message', hear);
        this.#child.removeListener('exit', left);
        clearTimeout(impatience);
        outcome();
      };
      const refuse = (reason: string): void => settle(() => reject(new Error(reason)));
      const hear = (message: FromWorker): void => {
        if (message.say === answer) settle(() => resolve(message as Extract<FromWorker, { say: K }>));
        else if (message.say === 'failed') refuse(`the buyers failed: ${message.reason}`);
      };
      const left = (): void => refuse('the buyers are gone; what they said stands above');
      const impatience = setTimeout(() => refuse(`no answer to "${order.say}" within a minute`), PATIENCE_MS);
      this.#child.on('message', hear);
      this.#child.once('exit', left);
      this.#tell(order);
    });
  }
}
