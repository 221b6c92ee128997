import type { Freshness } from '#application/freshness';
import { setTimeout as sleep } from 'node:timers/promises';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { DataSource, EntityManager, EntitySchema, QueryRunner } from 'typeorm';
import { Batcher } from '../batching/batcher.ts';
import type { Logger } from '../logging/logger.ts';
import { waitAtMost } from '../wait-at-most.ts';
import { breakConnection, driverClientOf, openDatabase } from './database.ts';

/** A replica that is further behind than this is not read (CONTRACT §10). */
const MAX_LAG_MS = 5000;
/** How long a `current` read waits until the replica has replayed what the primary had. Usually that takes a few milliseconds. */
const CATCH_UP_MS = 100;
/** After this time a read leaves the replica and goes to the primary. The replica itself ends a statement a little earlier. */
const READ_TIMEOUT_MS = 1500;
const STATEMENT_TIMEOUT_MS = 1200;
const CONNECT_TIMEOUT_MS = 500;
const SOCKET_TIMEOUT_MS = 10_000;
const POOL_SIZE = 8;
/** Whatever the server's defaults are: no write is possible, and SERIALIZABLE, which a replica refuses, is not used. */
const SETTINGS = [
  'default_transaction_read_only=on',
  'default_transaction_isolation=read\\ committed',
  `statement_timeout=${STATEMENT_TIMEOUT_MS}`,
];

/**
 * Where the primary's log ends for us: every commit that was acknowledged is before this position. An asynchronous commit is
 * acknowledged before it is flushed.
 */
const PRIMARY_STATE = `select (case current_setting('synchronous_commit')
  when 'off' then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end)::text as position`;
const REPLICA_STATE = `select pg_is_in_recovery() as "isReplica", pg_last_wal_replay_lsn()::text as position`;
const SYSTEM = `select system_identifier::text as id from pg_control_system()`;

/** Why a read was answered by the primary. */
type Refusal = 'behind' | 'promoted' | 'other cluster' | 'failed';

/** Where the primary's log ended at a moment on the clock of this process. */
interface Sample {
  readonly atMs: number;
  readonly position: bigint;
}

interface ReplicaReadsOptions {
  readonly primary: DataSource;
  /** Undefined: there is no replica, and every read goes to the primary. */
  readonly url: string | undefined;
  readonly name: string;
  readonly entities?: readonly EntitySchema[];
  readonly logger: Logger;
  readonly registry: Registry;
}

class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(`the replica is not read: ${refusal}`);
  }
}

/**
 * Reads from a replica of the database if it is fresh enough, else from the primary.
 *
 * Guarantees:
 * - A `current` read sees everything that was committed before the read, by whichever process. It asks the primary where its log
 *   ends, and reads from the replica only after the replica has replayed the log up to there.
 * - A `recent` read sees everything that was committed more than 5 s before the read.
 * - A server that is not a replica any more (promoted) is not read, and no connection to it can write.
 * - A read that the replica refuses, breaks or answers too late is answered by the primary. It then fails only if the primary fails.
 *
 * Freshness is proven on the connection of each read, because behind one address there may be several replicas. Positions in the log
 * are compared, never clocks: nothing to replay is no lag, and a replica that is cut off has not replayed new positions.
 */
export class ReplicaReads {
  private replica: DataSource | undefined;
  private opening: Promise<DataSource> | undefined;
  /** Positions of the primary in the last seconds, oldest first. */
  private samples: Sample[] = [];
  /** The replica has everything that was committed before this moment. */
  private provenAtMs = performance.now();
  private lagMs = 0;
  /** Why the last measurement refused the replica; undefined if it may be read. */
  private refusal: Refusal | undefined = 'failed';
  /** A read has failed since the last measurement, so that reads do not wait for a dead replica one after the other. */
  private isPaused = false;
  /** False while the replica is too late for `current` reads, so that each of them does not wait in vain. */
  private catchesUp = false;
  private hasLogged = false;
  private readonly reads: Counter | undefined;
  private readonly fallbacks: Counter<'reason'> | undefined;
  /** Concurrent reads share the question for the primary's position. A read that comes during a question waits for the next one. */
  private readonly positions = new Batcher<void, bigint>(async (askers) => {
    const position = await this.primaryPosition();
    return askers.map(() => position);
  });

  constructor(private readonly options: ReplicaReadsOptions) {
    if (options.url === undefined) return;
    const registers = [options.registry];
    const lagSeconds = () => (this.isReadable ? this.lagMs : performance.now() - this.provenAtMs) / 1000;
    new Gauge({
      name: 'database_replica_lag_seconds',
      help: 'By how much the replica is behind the primary at most. Grows while the replica cannot be read.',
      registers,
      collect() {
        this.set(lagSeconds());
      },
    });
    this.reads = new Counter({ name: 'database_replica_reads_total', help: 'Reads that the replica answered.', registers });
    this.fallbacks = new Counter({
      name: 'database_replica_fallbacks_total',
      help: 'Reads for the replica that the primary answered.',
      labelNames: ['reason'],
      registers,
    });
  }

  /** Runs `query` on the replica or on the primary. It must only read, and may run twice: on the replica, then on the primary. */
  async read<T>(
    freshness: Freshness,
    query: (database: Pick<EntityManager, 'query' | 'findBy' | 'createQueryBuilder'>) => Promise<T>,
  ): Promise<T> {
    const { primary } = this.options;
    if (!this.hasReplica) return query(primary.manager);
    try {
      if (!this.isReadable) throw new Refused(this.refusal ?? 'failed');
      const answer = await this.onReplica(async (runner) => {
        await this.assertReplayed(runner, freshness);
        const found = await query(runner.manager);
        // A promotion is final. So a server that is a replica now was one during the query.
        await this.stateOf(runner);
        return found;
      });
      this.reads?.inc();
      return answer;
    } catch (error) {
      const refusal = error instanceof Refused ? error.refusal : 'failed';
      if (refusal !== 'behind') this.isPaused = true;
      this.fallbacks?.inc({ reason: refusal });
    }
    return query(primary.manager);
  }

  /** Measures how far the replica is behind, and decides whether it may be read until the next measurement. */
  async measure(): Promise<void> {
    if (!this.hasReplica) return;
    let refusal: Refusal | undefined;
    let cause: unknown;
    try {
      await this.open();
      await this.onReplica((runner) => this.measureOn(runner));
    } catch (error) {
      cause = error;
      refusal = error instanceof Refused ? error.refusal : 'failed';
    }
    this.decide(refusal, cause);
  }

  async close(): Promise<void> {
    await (await this.opening?.catch(() => undefined))?.destroy();
  }

  /** False if there is no replica: all reads go to the primary. */
  get hasReplica(): boolean {
    return this.options.url !== undefined;
  }

  private get isReadable(): boolean {
    return this.refusal === undefined && !this.isPaused;
  }

  /** Logs only when the replica starts or stops being read, and once if it cannot be read at the start. */
  private decide(refusal: Refusal | undefined, cause: unknown): void {
    const { logger } = this.options;
    if (refusal === undefined && this.refusal !== undefined) logger.info('the database replica is read from now on');
    else if (refusal !== undefined && (this.refusal === undefined || !this.hasLogged))
      logger.warn({ refusal, err: cause }, 'the database replica is not read: the primary answers instead');
    this.hasLogged = true;
    this.refusal = refusal;
    this.isPaused = false;
  }

  private async measureOn(runner: QueryRunner): Promise<void> {
    const atMs = performance.now();
    const position = await this.positions.add();
    this.samples = [...this.samples.filter((sample) => sample.atMs > atMs - MAX_LAG_MS), { atMs, position }];
    const replayed = await this.replayedOf(runner, position);
    this.catchesUp = replayed >= position;
    if (replayed > (await this.positions.add())) {
      // The replica has replayed what this primary has never written: it followed a former primary, or another one.
      this.samples = [];
      throw new Refused('other cluster');
    }
    const proof = this.samples.findLast((sample) => sample.position <= replayed);
    if (proof) this.provenAtMs = proof.atMs;
    this.lagMs = performance.now() - this.provenAtMs;
    if (this.lagMs > MAX_LAG_MS) throw new Refused('behind');
  }

  /** Throws unless this server has replayed what the read must see. */
  private async assertReplayed(runner: QueryRunner, freshness: Freshness): Promise<void> {
    if (freshness === 'current') {
      if (!this.catchesUp) throw new Refused('behind');
      const position = await this.positions.add();
      this.catchesUp = (await this.replayedOf(runner, position)) >= position;
      if (!this.catchesUp) throw new Refused('behind');
      return;
    }
    const oldestAllowedMs = performance.now() - MAX_LAG_MS;
    const sample = this.samples.find(({ atMs }) => atMs >= oldestAllowedMs);
    if (!sample || (await this.stateOf(runner)) < sample.position) throw new Refused('behind');
  }

  /** The position that this replica has replayed. Waits a short time until that is the wanted one. */
  private async replayedOf(runner: QueryRunner, wanted: bigint): Promise<bigint> {
    const giveUpAtMs = performance.now() + CATCH_UP_MS;
    for (let pauseMs = 1; ; pauseMs *= 2) {
      const replayed = await this.stateOf(runner);
      if (replayed >= wanted || performance.now() + pauseMs > giveUpAtMs) return replayed;
      await sleep(pauseMs);
    }
  }

  /** The position that this server has replayed. Throws if it is not a replica. */
  private async stateOf(runner: QueryRunner): Promise<bigint> {
    const [state] = (await runner.query(REPLICA_STATE)) as { isReplica: boolean; position: string | null }[];
    if (!state?.isReplica) throw new Refused('promoted');
    return state.position === null ? 0n : positionOf(state.position);
  }

  /**
   * Where the primary's log ends. A position that goes backwards is another primary's, so the samples of the former one prove
   * nothing.
   */
  private async primaryPosition(): Promise<bigint> {
    const [state] = await this.options.primary.query<{ position: string }[]>(PRIMARY_STATE);
    const position = positionOf(state?.position ?? '0/0');
    if (position < (this.samples.at(-1)?.position ?? 0n)) this.samples = [];
    return position;
  }

  /** Opens the pool. The replica may be down when the process starts, so each measurement tries again. */
  private async open(): Promise<void> {
    const { name, logger, entities, url = '' } = this.options;
    this.opening ??= openDatabase({
      ...{ url, name: `${name}-replica`, logger, poolSize: POOL_SIZE, settings: SETTINGS },
      ...{ poolTimeoutMs: CONNECT_TIMEOUT_MS, socketTimeoutMs: SOCKET_TIMEOUT_MS },
      ...(entities ? { entities } : {}),
    });
    try {
      const replica = await waitAtMost(READ_TIMEOUT_MS, this.opening, undefined);
      if (!replica) throw new Error('the replica does not answer');
      if (!this.replica) await this.assertSameSystem(replica);
      this.replica = replica;
    } catch (error) {
      // A pending attempt is kept: it ends by its own timeouts.
      void this.opening.catch(() => (this.opening = undefined));
      throw error;
    }
  }

  /** A replica has the identifier that its primary got when it was made. Positions of other clusters cannot be compared. */
  private async assertSameSystem(replica: DataSource): Promise<void> {
    const query = (source: DataSource) => source.query<{ id: string }[]>(SYSTEM);
    const [[here], [there]] = await Promise.all([query(this.options.primary), query(replica)]);
    if (here?.id !== there?.id) throw new Refused('other cluster');
  }

  /** Runs `work` on one connection to the replica, for a limited time. After a failure the connection is broken. */
  private async onReplica<T>(work: (runner: QueryRunner) => Promise<T>): Promise<T> {
    if (!this.replica) throw new Refused('failed');
    const runner = this.replica.createQueryRunner();
    const done = releaseAfter(runner, work(runner));
    const timeout = Symbol('timeout');
    const answer = await waitAtMost(READ_TIMEOUT_MS, done, timeout);
    if (answer !== timeout) return answer as T;
    done.catch(() => undefined);
    driverClientOf(runner).then(breakConnection, () => undefined);
    throw new Error('the replica does not answer');
  }
}

async function releaseAfter<T>(runner: QueryRunner, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } finally {
    await runner.release();
  }
}

/** Converts a position in the log, such as `16/B374D848`, to a number of bytes. */
function positionOf(text: string): bigint {
  const [high = '0', low = '0'] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}
