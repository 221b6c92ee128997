import type { Ending, Running } from './local-server.ts';
import type { ProcessIdentity } from './processes.ts';

export interface KeeperEvents {
  say(line: string): void;
  /** A process came or went: whoever lists pids should look again. */
  changed(): void;
  /** Called with each end nobody asked for; true means that starting it again is of no use. */
  isHopeless?(ending: Ending): boolean;
}

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 30_000;
/** After a minute of life the next crash is a new story and the delay begins small again. */
const HEALTHY_AFTER_MS = 60_000;

/** Keeps one process running: starts it again when it ends, each time a little later, for as long as it takes. */
export class Keeper {
  readonly name: string;
  readonly #startUnit: () => Promise<Running>;
  readonly #events: KeeperEvents;
  #running: Running | undefined;
  #startedAt = 0;
  #delayMs = FIRST_DELAY_MS;
  #retry: NodeJS.Timeout | undefined;
  #starting: Promise<void> | undefined;
  #stopped = false;

  constructor(name: string, startUnit: () => Promise<Running>, events: KeeperEvents) {
    this.name = name;
    this.#startUnit = startUnit;
    this.#events = events;
  }

  get identity(): ProcessIdentity | undefined {
    return this.#running?.identity;
  }

  /** The first start: its failure is the caller's to report. */
  async start(): Promise<void> {
    this.#starting = this.#startOnce();
    await this.#starting;
  }

  /** Ends the process; a new one follows at once. */
  async restart(): Promise<void> {
    const old = this.#running;
    this.#running = undefined;
    await old?.stop();
    if (!this.#stopped) await this.start();
  }

  /** For good. May be called twice, and while it is starting. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retry);
    await this.#starting?.catch(() => undefined);
    await this.#running?.stop();
  }

  async #startOnce(): Promise<void> {
    const running = await this.#startUnit();
    this.#running = running;
    this.#startedAt = Date.now();
    this.#events.changed();
    void running.ended.then((ending) => this.#onEnd(running, ending));
  }

  #onEnd(running: Running, ending: Ending): void {
    if (this.#stopped || this.#running !== running) return;
    this.#running = undefined;
    this.#events.changed();
    if (this.#events.isHopeless?.(ending)) return;
    if (Date.now() - this.#startedAt > HEALTHY_AFTER_MS) this.#delayMs = FIRST_DELAY_MS;
    this.#retryLater(ending.words);
  }

  #retryLater(reason: string): void {
    if (this.#stopped) return;
    this.#events.say(`${this.name} ${reason}; starting it again in ${this.#delayMs / 1_000} s`);
    this.#retry = setTimeout(() => {
      this.#starting = this.#startOnce().catch((error: unknown) => this.#retryLater(`did not start (${String(error)})`));
    }, this.#delayMs);
    this.#delayMs = Math.min(this.#delayMs * 2, LONGEST_DELAY_MS);
  }
}
