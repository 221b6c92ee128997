import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { between, readCpu, type CpuTimes } from '../instruments/cpu.ts';
import type { OwnServers } from '../instruments/own-servers.ts';
import { LoaderProcess } from './loader-process.ts';
import type { LedgerSums } from './sources.ts';

export const SOURCES = 40;
/** The gate's own ceiling: a thousand events, five times a second. */
export const CEILING = SOURCES * 5 * 1000;
const START_MS = 60_000;
const COPIED_ROWS = 200_000;
/** So many each before anything is measured. */
const WARM_EVENTS = 60_000;

export interface RunResult {
  readonly instances: number;
  readonly perSecond: number;
  readonly copyPerSecond: number;
  /** Of COPY, or of the gate's ceiling where that is lower. */
  readonly share: number;
  readonly rows: number;
  readonly sent: number;
  readonly sentAgain: number;
  readonly leastGapMs: number;
  /** Of processor time, an event: the loaders, PostgreSQL, Redis, and the sources. */
  readonly cpuMicros: CpuTimes;
  readonly faults: readonly string[];
}

/** Forty sources that never end, the servers, and any number of loaders between them. */
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
    const ground = new LoaderSetup(servers, sources, client);
    const list = Array.from({ length: SOURCES }, (_, index) => ({
      name: `gate-${index}`,
      kind: 'http',
      url: `${url}gate-${index}`,
    }));
    writeFileSync(ground.#file, JSON.stringify(list));
    return ground;
  }

  async measure(instances: number, seconds: number): Promise<RunResult> {
    await this.#clear();
    const surroundings = { databaseUrl: this.#servers.databaseUrl, redisUrl: this.#servers.redisUrl, sourcesFile: this.#file };
    const loaders = Array.from({ length: instances }, () => LoaderProcess.start(surroundings));
    const faults: string[] = [];
    let perSecond = 0;
    let cpuMicros: CpuTimes;
    try {
      await this.#untilAllWork(loaders);
      await this.#untilWarm(instances);
      const cpu = (): CpuTimes =>
        readCpu({ service: loaders.map(({ pid }) => pid), ...this.#servers.pids, load: [this.#sources.pid ?? 0] });
      const [startedAt, before, cpuBefore] = [performance.now(), await this.#stored(), cpu()];
      await sleep(seconds * 1000);
      const [stored, used] = [(await this.#stored()) - before, between(cpuBefore, cpu())];
      perSecond = stored / ((performance.now() - startedAt) / 1000);
      cpuMicros = anEvent(used, stored);
    } finally {
      const codes = await Promise.all(loaders.map((loader) => loader.stop()));
      if (codes.some((code) => code !== 0))
        faults.push(`exit codes ${codes.join()}: ${loaders.map(({ stderr }) => stderr).join(' ')}`);
    }
    const ledger = await this.#ledger();
    const rows = await this.#faultsOfRows(ledger, faults);
    const copyPerSecond = await this.#copy();
    const { sent, sentAgain, leastGapMs } = ledger;
    const share = perSecond / Math.min(copyPerSecond, CEILING);
    return {
      instances,
      perSecond,
      copyPerSecond,
      share,
      rows,
      sent,
      sentAgain,
      leastGapMs: leastGapMs ?? Number.NaN,
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

  /** Each has one connection on which it looks for cursors. */
  async #untilAllWork(loaders: readonly LoaderProcess[]): Promise<void> {
    const giveUpAt = Date.now() + START_MS;
    for (;;) {
      const { rows } = await this.#client.query<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity where application_name = 'tribina-loader' and query not like '%with mine as%'`,
      );
      if ((rows[0]?.n ?? 0) >= loaders.length) return;
      const dead = loaders.find(({ isAlive }) => !isAlive);
      if (dead || Date.now() > giveUpAt) throw new Error(`the loaders did not get to work: ${dead?.stderr ?? ''}`);
      await sleep(100);
    }
  }

  /** A loader runs for weeks. Compiling itself took eight of them half of the first four seconds' processor time. */
  async #untilWarm(instances: number): Promise<void> {
    const giveUpAt = Date.now() + START_MS;
    while (Date.now() < giveUpAt && (await this.#stored()) < WARM_EVENTS * instances) await sleep(100);
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

  /** Every row once, none missing up to the cursor, and the counters agree with the rows. */
  async #faultsOfRows({ sentAgain, leastGapMs }: LedgerSums, faults: string[]): Promise<number> {
    const { rows } = await this.#client.query<{ rows: number; twice: number; missing: number; counted: number }>(
      `select (select count(*)::float from loaded_events) as rows,
              (select (count(*) - count(distinct (source, event_id)))::float from loaded_events) as twice,
              (select coalesce(sum(cursor::bigint), 0)::float from loader_sources) - (select count(*)::float from loaded_events) as missing,
              (select coalesce(sum(stored), 0)::float from loader_sources) as counted`,
    );
    const [found] = rows;
    if (!found || found.twice !== 0) faults.push(`${found?.twice} rows stored twice`);
    if (found && found.missing !== 0) faults.push(`${found.missing} rows missing`);
    if (found && found.counted !== found.rows) faults.push(`${found.counted} counted, ${found.rows} there`);
    if (sentAgain > 0) faults.push(`${sentAgain} transported twice`);
    if ((leastGapMs ?? 200) < 200) faults.push(`only ${leastGapMs?.toFixed(1)} ms between two requests to a source`);
    return found?.rows ?? 0;
  }

  /** The same rows, in the order they came, into the same table, empty again; from the server's own disk. */
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

function anEvent({ service, database, redis, load }: CpuTimes, events: number): CpuTimes {
  return { service: service / events, database: database / events, redis: redis / events, load: load / events };
}
