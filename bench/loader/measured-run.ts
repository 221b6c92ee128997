import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { cpuDifference, readCpu, type CpuTimes } from '../instruments/cpu.ts';
import type { OwnServers } from '../instruments/own-servers.ts';
import { LoaderProcess } from './loader-process.ts';
import type { LedgerSums } from './sources.ts';

/** Number of event sources that the loaders read. */
export const SOURCE_COUNT = 40;
/** The most that the loaders may fetch: the rate limiter allows five requests a second to each source, of 1,000 events each. */
export const MAX_SOURCE_EVENTS_PER_SECOND = SOURCE_COUNT * 5 * 1000;
const START_TIMEOUT_MS = 60_000;
const COPIED_ROWS = 200_000;
/** Events that each loader stores before the measurement starts. */
const WARM_UP_EVENTS = 60_000;

/** The result of one run with `instances` loaders. Rates are events per second. */
export interface RunResult {
  readonly instances: number;
  readonly perSecond: number;
  readonly copyPerSecond: number;
  /** `perSecond` divided by the speed of COPY, or by MAX_SOURCE_EVENTS_PER_SECOND if that is lower. */
  readonly share: number;
  readonly rows: number;
  readonly sent: number;
  readonly sentAgain: number;
  readonly minGapMs: number;
  /** Processor time per event: of the loaders (`service`), PostgreSQL, Redis, and the sources (`load`). */
  readonly cpuMicros: CpuTimes;
  readonly faults: readonly string[];
}

/** The setup of the loader benchmark: 40 endless event sources, PostgreSQL, Redis and any number of loaders. */
export class LoaderSetup {
  readonly #servers: OwnServers;
  readonly #sources: ChildProcess;
  readonly #file = path.join(tmpdir(), `tribina-bench-loader-${process.pid}.json`);
  readonly #client: pg.Client;

  private constructor(servers: OwnServers, sources: ChildProcess, client: pg.Client) {
    this.#servers = servers;
    this.#sources = sources;
    this.#client = client;
  }

  static async open(servers: OwnServers): Promise<LoaderSetup> {
    const sources = fork(path.join(import.meta.dirname, 'sources.ts'), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const [url] = (await once(sources, 'message')) as [string];
    const client = new pg.Client({ connectionString: servers.databaseUrl });
    await client.connect();
    const setup = new LoaderSetup(servers, sources, client);
    const list = Array.from({ length: SOURCE_COUNT }, (_, index) => ({
      name: `gate-${index}`,
      kind: 'http',
      url: `${url}gate-${index}`,
    }));
    writeFileSync(setup.#file, JSON.stringify(list));
    return setup;
  }

  async measure(instances: number, seconds: number): Promise<RunResult> {
    await this.#clear();
    const environment = { databaseUrl: this.#servers.databaseUrl, redisUrl: this.#servers.redisUrl, sourcesFile: this.#file };
    const loaders = Array.from({ length: instances }, () => LoaderProcess.start(environment));
    const faults: string[] = [];
    let perSecond = 0;
    let cpuMicros: CpuTimes;
    try {
      await this.#waitUntilAllRun(loaders);
      await this.#waitUntilWarm(instances);
      const cpu = (): CpuTimes =>
        readCpu({ service: loaders.map(({ pid }) => pid), ...this.#servers.pids, load: [this.#sources.pid ?? 0] });
      const [startedAt, before, cpuBefore] = [performance.now(), await this.#stored(), cpu()];
      await sleep(seconds * 1000);
      const [stored, used] = [(await this.#stored()) - before, cpuDifference(cpuBefore, cpu())];
      perSecond = stored / ((performance.now() - startedAt) / 1000);
      cpuMicros = perEvent(used, stored);
    } finally {
      const codes = await Promise.all(loaders.map((loader) => loader.stop()));
      if (codes.some((code) => code !== 0))
        faults.push(`exit codes ${codes.join()}: ${loaders.map(({ stderr }) => stderr).join(' ')}`);
    }
    const ledger = await this.#ledger();
    const rows = await this.#faultsOfRows(ledger, faults);
    const copyPerSecond = await this.#copy();
    const { sent, sentAgain, minGapMs } = ledger;
    const share = perSecond / Math.min(copyPerSecond, MAX_SOURCE_EVENTS_PER_SECOND);
    return {
      instances,
      perSecond,
      copyPerSecond,
      share,
      rows,
      sent,
      sentAgain,
      minGapMs: minGapMs ?? Number.NaN,
      cpuMicros,
      faults,
    };
  }

  async close(): Promise<void> {
    rmSync(this.#file, { force: true });
    this.#sources.disconnect();
    await this.#client.end();
  }

  async #clear(): Promise<void> {
    await this.#client.query('truncate loaded_events, loader_sources, loader_balance, quarantined_events, loaded_events_due');
    await this.#client.query('checkpoint');
    const redis = new Redis(this.#servers.redisUrl);
    await redis.flushall();
    await redis.quit();
    await this.#ledger();
  }

  /** Waits until each loader has opened the database connection on which it stores its cursors. */
  async #waitUntilAllRun(loaders: readonly LoaderProcess[]): Promise<void> {
    const giveUpAt = Date.now() + START_TIMEOUT_MS;
    for (;;) {
      const { rows } = await this.#client.query<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity where application_name = 'tribina-loader' and query not like '%with mine as%'`,
      );
      if ((rows[0]?.n ?? 0) >= loaders.length) return;
      const dead = loaders.find(({ isAlive }) => !isAlive);
      if (dead || Date.now() > giveUpAt) throw new Error(`the loaders did not start: ${dead?.stderr ?? ''}`);
      await sleep(100);
    }
  }

  /**
   * Waits until each loader has stored WARM_UP_EVENTS. In production a loader runs for weeks, but a new process first compiles its code:
   * in the first four seconds of eight loaders, half of the processor time was compilation.
   */
  async #waitUntilWarm(instances: number): Promise<void> {
    const giveUpAt = Date.now() + START_TIMEOUT_MS;
    while (Date.now() < giveUpAt && (await this.#stored()) < WARM_UP_EVENTS * instances) await sleep(100);
  }

  async #stored(): Promise<number> {
    const { rows } = await this.#client.query<{ n: number }>('select coalesce(sum(stored), 0)::float as n from loader_sources');
    return rows[0]?.n ?? 0;
  }

  async #ledger(): Promise<LedgerSums> {
    this.#sources.send('ledger');
    const [sums] = (await once(this.#sources, 'message')) as [LedgerSums];
    return sums;
  }

  /**
   * Checks that every event up to the cursor of its source is stored exactly once, and that the loaders' own counts of stored
   * events (loader_sources.stored) add up to the number of rows. Adds what is wrong to `faults` and returns the row count.
   */
  async #faultsOfRows({ sentAgain, minGapMs }: LedgerSums, faults: string[]): Promise<number> {
    const { rows } = await this.#client.query<{ rows: number; twice: number; missing: number; counted: number }>(
      `select (select count(*)::float from loaded_events) as rows,
              (select (count(*) - count(distinct (source, event_id)))::float from loaded_events) as twice,
              (select coalesce(sum(cursor::bigint), 0)::float from loader_sources) - (select count(*)::float from loaded_events) as missing,
              (select coalesce(sum(stored), 0)::float from loader_sources) as counted`,
    );
    const [sums] = rows;
    if (!sums || sums.twice !== 0) faults.push(`${sums?.twice} rows stored twice`);
    if (sums && sums.missing !== 0) faults.push(`${sums.missing} rows missing`);
    if (sums && sums.counted !== sums.rows) faults.push(`${sums.counted} counted, ${sums.rows} stored`);
    if (sentAgain > 0) faults.push(`${sentAgain} transported twice`);
    if ((minGapMs ?? 200) < 200) faults.push(`only ${minGapMs?.toFixed(1)} ms between two requests to a source`);
    return sums?.rows ?? 0;
  }

  /** Rows per second of a COPY of the loaded rows, in the same order, into the same emptied table, from the disk of the server. */
  async #copy(): Promise<number> {
    const { rows } = await this.#client.query<{ folder: string }>(`select current_setting('data_directory') as folder`);
    const file = `'${rows[0]!.folder}/loader-rows.copy'`;
    const { rowCount } = await this.#client.query(
      `copy (select source, event_id, payload from loaded_events limit ${COPIED_ROWS}) to ${file}`,
    );
    await this.#client.query('truncate loaded_events');
    await this.#client.query('checkpoint');
    const startedAt = performance.now();
    await this.#client.query(`copy loaded_events (source, event_id, payload) from ${file}`);
    return (rowCount ?? 0) / ((performance.now() - startedAt) / 1000);
  }
}

function perEvent({ service, database, redis, load }: CpuTimes, events: number): CpuTimes {
  return { service: service / events, database: database / events, redis: redis / events, load: load / events };
}
