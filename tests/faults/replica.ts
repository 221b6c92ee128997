import { startMonolith, type RunningService } from '../../bench/instruments/service.ts';

/** A monolith as it is deployed, in a process of its own, that can be killed and frozen: by its pid, never by a name. */
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

  /** kill -9: no goodbye to anybody. */
  async kill(): Promise<void> {
    this.isAlive = false;
    this.#signal('SIGKILL');
    await this.#service.stop();
  }

  /** It stands still with everything in its hands, and knows nothing of it. */
  freeze(): void {
    // Whoever is frozen does not hear that we are gone.
    process.once('exit', () => this.thaw());
    this.#signal('SIGSTOP');
  }

  thaw(): void {
    this.#signal('SIGCONT');
  }

  /** A number of its metrics page, summed over labels; by label value where `by` names one. */
  async metric(name: string, by?: string): Promise<Record<string, number>> {
    const page = await (await fetch(`${this.url}/metrics`, { signal: AbortSignal.timeout(5000) })).text();
    const found: Record<string, number> = {};
    for (const [, labels = '', value] of page.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm'))) {
      const label = by ? (new RegExp(`${by}="([^"]*)"`).exec(labels)?.[1] ?? '') : 'all';
      found[label] = (found[label] ?? 0) + Number(value);
    }
    return found;
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
