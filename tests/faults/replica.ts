import { startMonolith, type RunningService } from '../../bench/instruments/service.ts';

/** A monolith in its own process, started like in production. Tests kill and freeze it by its pid, never by name. */
export class Replica {
  isAlive = true;
  readonly url: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly #service: RunningService;

  private constructor(service: RunningService, settings: Record<string, string>) {
    this.#service = service;
    this.url = service.url;
    this.settings = settings;
  }

  static async start(settings: Record<string, string>, environment: Record<string, string>): Promise<Replica> {
    return new Replica(await startMonolith({ ...environment, ...settings }), settings);
  }

  /** Kills the process with `kill -9`, so it cannot close its connections. */
  async kill(): Promise<void> {
    this.isAlive = false;
    this.#signal('SIGKILL');
    await this.#service.stop();
  }

  /** Stops the process by SIGSTOP, with all its open requests and transactions, until `thaw`. */
  freeze(): void {
    // Continue the frozen process when this process exits. A frozen process would not notice the exit and would stay behind.
    process.once('exit', () => this.thaw());
    this.#signal('SIGSTOP');
  }

  thaw(): void {
    this.#signal('SIGCONT');
  }

  /** Reads a metric: the sum over all labels under the key `all`, or the sum for each value of the label `by`. */
  async metric(name: string, by?: string): Promise<Record<string, number>> {
    const page = await (await fetch(`${this.url}/metrics`, { signal: AbortSignal.timeout(5000) })).text();
    const sums: Record<string, number> = {};
    for (const [, labels = '', value] of page.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm'))) {
      const label = by ? (new RegExp(`${by}="([^"]*)"`).exec(labels)?.[1] ?? '') : 'all';
      sums[label] = (sums[label] ?? 0) + Number(value);
    }
    return sums;
  }

  async stop(): Promise<void> {
    if (!this.isAlive) return;
    this.thaw();
    await this.#service.stop();
    this.isAlive = false;
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      process.kill(this.#service.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
