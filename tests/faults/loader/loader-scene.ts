import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { LoaderProcess } from '../../../bench/loader/loader-process.ts';
import type { EventSources } from '../../../libs/testing/src/event-sources.ts';

export interface Servers {
  readonly databaseUrl: string;
  readonly redisUrl: string;
}

/** Notes what is not as it should be, and goes on. */
export type Claim = (isTrue: boolean, otherwise: string) => void;
export type Figures = Readonly<Record<string, string | number>>;

/** Shaped as the scenarios of the fault suite are. */
export interface LoaderScenario {
  readonly id: string;
  readonly title: string;
  readonly limitMs: number;
  play(servers: Servers, claim: Claim): Promise<Figures>;
}

const START_MS = 10_000;

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

/** Loader processes as they are deployed, over sources of the test's own. */
export class LoaderScene {
  readonly loaders: LoaderProcess[] = [];
  readonly #servers: Servers;
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'tribina-loader-scene-'));
  readonly #file = path.join(this.#folder, 'sources.json');

  constructor(servers: Servers, sources: readonly unknown[]) {
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

  /** Until every source's cursor stands where it should, or the time is up. */
  async untilLoaded(isDone: (row: Row) => boolean, count: number, patienceMs: number): Promise<boolean> {
    for (const giveUpAt = Date.now() + patienceMs; Date.now() < giveUpAt; await sleep(200)) {
      const rows = await this.rows();
      if (rows.length >= count && rows.every(isDone)) return true;
    }
    return false;
  }

  /** All that live end as they are told to; what they said, where one did not. One that has just been started may not listen yet. */
  async stop(): Promise<string[]> {
    const ends = await Promise.all(
      this.living.map(async (loader) => ({
        isOld: loader.ageMs > START_MS,
        code: await loader.stop(),
        said: loader.stderr.slice(-300),
      })),
    );
    return ends.flatMap(({ isOld, code, said }) => (code === 0 || !isOld ? [] : [`a loader ended with ${code}: ${said}`]));
  }

  async close(): Promise<void> {
    for (const loader of this.living) {
      loader.signal('SIGKILL');
      await loader.gone;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** I14: the stored set is the source's set, no event is there twice, requests are a gap apart. */
export function checkHealthy(
  rows: readonly Row[],
  sizeOf: (source: string) => number,
  sources: EventSources,
  claim: Claim,
): void {
  for (const { source, cursor, stored, rows: count, distinct_ids } of rows) {
    const size = sizeOf(source);
    claim(Number(cursor) === size && count === size, `${source}: ${count} of ${size} stored, cursor at ${cursor}`);
    claim(count === distinct_ids && stored === count, `${source}: ${count} rows, ${distinct_ids} ids, ${stored} counted`);
  }
  for (const [name, { askedAfter, arrivals }] of sources.ledgers) {
    const back = askedAfter.filter((after, index) => after < Math.max(0, ...askedAfter.slice(0, index)));
    // After a crash between fetch and commit the same page is asked for again, never one before it.
    claim(back.length === 0, `${name}: asked for ids at or below a cursor ${back.length} times`);
    claim(arrivals.length > 0, `${name} was never asked`);
  }
  const gap = sources.leastGapMs();
  claim(gap >= 200, `only ${gap.toFixed(1)} ms between two requests to the same source`);
}
