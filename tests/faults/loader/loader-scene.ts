import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { LoaderProcess } from '../../../bench/loader/loader-process.ts';
import type { EventSources } from '../../../libs/testing/src/event-sources.ts';

/** The database and the Redis of one scenario. */
export interface ScenarioServers {
  readonly databaseUrl: string;
  readonly redisUrl: string;
}

/** Records `fault` if the condition is false. The scenario continues. */
export type Check = (isTrue: boolean, fault: string) => void;
/** Numbers and short texts that a scenario reports beside its faults. */
export type Figures = Readonly<Record<string, string | number>>;

/** One fault that loader processes must survive. Has the same form as `Scenario` in tests/faults/scenario.ts. */
export interface LoaderScenario {
  readonly id: string;
  readonly title: string;
  readonly limitMs: number;
  run(servers: ScenarioServers, check: Check): Promise<Figures>;
}

const MAX_START_MS = 10_000;

interface Row {
  readonly source: string;
  readonly cursor: string | null;
  readonly stored: number;
  readonly rows: number;
  readonly distinct_ids: number;
  readonly quarantined: number;
  readonly transported_again: number;
  readonly errors: number;
  readonly last_error: string | null;
}

/** Loader processes, started like in production, with sources that the test serves. */
export class LoaderScene {
  readonly loaders: LoaderProcess[] = [];
  readonly #servers: ScenarioServers;
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'tribina-loader-scene-'));
  readonly #file = path.join(this.#folder, 'sources.json');

  constructor(servers: ScenarioServers, sources: readonly unknown[]) {
    this.#servers = servers;
    writeFileSync(this.#file, JSON.stringify(sources));
  }

  start(): LoaderProcess {
    const loader = LoaderProcess.start({ ...this.#servers, sourcesFile: this.#file });
    this.loaders.push(loader);
    return loader;
  }

  get living(): LoaderProcess[] {
    return this.loaders.filter(({ isAlive }) => isAlive);
  }

  async rows(): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.#servers.databaseUrl });
    await client.connect();
    try {
      const { rows } = await client.query<Row>(
        `select source, cursor, s.stored::int, s.quarantined::int, s.transported_again::int, s.errors::int, s.last_error,
                count(e.event_id)::int as rows, count(distinct e.event_id)::int as distinct_ids
         from loader_sources s left join loaded_events e using (source) group by s.source order by s.source`,
      );
      return rows;
    } finally {
      await client.end();
    }
  }

  /** Waits until at least `count` sources have a row and `isDone` is true for all rows. Resolves to false after `timeoutMs`. */
  async waitUntilLoaded(isDone: (row: Row) => boolean, count: number, timeoutMs: number): Promise<boolean> {
    for (const giveUpAt = Date.now() + timeoutMs; Date.now() < giveUpAt; await sleep(200)) {
      const rows = await this.rows();
      if (rows.length >= count && rows.every(isDone)) return true;
    }
    return false;
  }

  /**
   * Stops all living loaders. Returns a fault for each that exits with another code than 0, unless it was started less than 10 s ago:
   * such a process may not handle SIGTERM yet.
   */
  async stop(): Promise<string[]> {
    const exits = await Promise.all(
      this.living.map(async (loader) => ({
        isOld: loader.ageMs > MAX_START_MS,
        code: await loader.stop(),
        output: loader.stderr.slice(-300),
      })),
    );
    return exits.flatMap(({ isOld, code, output }) => (code === 0 || !isOld ? [] : [`a loader ended with ${code}: ${output}`]));
  }

  async close(): Promise<void> {
    for (const loader of this.living) {
      loader.signal('SIGKILL');
      await loader.exited;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/**
 * Checks invariant I14 of research/reliability.md: the stored events equal those of the source, no event is stored twice, and requests to
 * a source are at least 200 ms apart.
 */
export function checkHealthy(
  rows: readonly Row[],
  sizeOf: (source: string) => number,
  sources: EventSources,
  check: Check,
): void {
  for (const { source, cursor, stored, rows: count, distinct_ids } of rows) {
    const size = sizeOf(source);
    check(Number(cursor) === size && count === size, `${source}: ${count} of ${size} stored, cursor at ${cursor}`);
    check(count === distinct_ids && stored === count, `${source}: ${count} rows, ${distinct_ids} ids, ${stored} counted`);
  }
  for (const [name, { askedAfter, arrivals }] of sources.ledgers) {
    const backwardRequests = askedAfter.filter((after, index) => after < Math.max(0, ...askedAfter.slice(0, index)));
    // If a loader crashes between fetch and commit, another loader fetches the same page again, but never an earlier page.
    check(backwardRequests.length === 0, `${name}: fetched from before an earlier cursor ${backwardRequests.length} times`);
    check(arrivals.length > 0, `${name} was never fetched`);
  }
  const gap = sources.minGapMs();
  check(gap >= 200, `only ${gap.toFixed(1)} ms between two requests to the same source`);
}
