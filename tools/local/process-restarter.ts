import type { ProcessEnd, RunningProcess } from './local-server.ts';
import type { ProcessIdentity } from './processes.ts';

/** The functions that a ProcessRestarter calls to report and to ask its owner. */
export interface RestarterEvents {
  say(line: string): void;
  /** Called when a process has started or ended, so that a list of pids can be updated. */
  changed(): void;
  /** Called when the process ended by itself. Returns true if a restart cannot help; then the process is not started again. */
  shouldNotRestart?(ending: ProcessEnd): boolean;
}

const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;
/** After the process has run this long, the next restart delay is FIRST_DELAY_MS again. */
const HEALTHY_AFTER_MS = 60_000;

/** Keeps one process running: starts it again when it ends, with a delay that doubles up to 30 s, without a limit of attempts. */
export class ProcessRestarter {
  readonly name: string;
  readonly #startProcess: () => Promise<RunningProcess>;
  readonly #events: RestarterEvents;
  #running: RunningProcess | undefined;
  #startedAt = 0;
  #delayMs = FIRST_DELAY_MS;
  #retry: NodeJS.Timeout | undefined;
  #starting: Promise<void> | undefined;
  #stopped = false;

  constructor(name: string, startProcess: () => Promise<RunningProcess>, events: RestarterEvents) {
    this.name = name;
    this.#startProcess = startProcess;
    this.#events = events;
  }

  get identity(): ProcessIdentity | undefined {
    return this.#running?.identity;
  }

  /** Starts the process for the first time. A failure is thrown to the caller and not retried. */
  async start(): Promise<void> {
    this.#starting = this.#startOnce();
    await this.#starting;
  }

  /** Ends the process and starts a new one at once. */
  async restart(): Promise<void> {
    const old = this.#running;
    this.#running = undefined;
    await old?.stop();
    if (!this.#stopped) await this.start();
  }

  /** Ends the process without a restart. May be called twice, and while the process is starting. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retry);
    await this.#starting?.catch(() => undefined);
    await this.#running?.stop();
  }

  async #startOnce(): Promise<void> {
    const running = await this.#startProcess();
    this.#running = running;
    this.#startedAt = Date.now();
    this.#events.changed();
    void running.ended.then((ending) => this.#onEnd(running, ending));
  }

  #onEnd(running: RunningProcess, ending: ProcessEnd): void {
    if (this.#stopped || this.#running !== running) return;
    this.#running = undefined;
    this.#events.changed();
    if (this.#events.shouldNotRestart?.(ending)) return;
    if (Date.now() - this.#startedAt > HEALTHY_AFTER_MS) this.#delayMs = FIRST_DELAY_MS;
    this.#retryLater(ending.description);
  }

  #retryLater(reason: string): void {
    if (this.#stopped) return;
    this.#events.say(`${this.name} ${reason}; starting it again in ${this.#delayMs / 1_000} s`);
    this.#retry = setTimeout(() => {
      this.#starting = this.#startOnce().catch((error: unknown) => this.#retryLater(`did not start (${String(error)})`));
    }, this.#delayMs);
    this.#delayMs = Math.min(this.#delayMs * 2, MAX_DELAY_MS);
  }
}
