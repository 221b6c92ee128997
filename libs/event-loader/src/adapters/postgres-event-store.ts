import { retrySerializable, type RetryOptions } from '#platform/postgres/serializable';
import { isUniqueViolation, sqlstateOf } from '#platform/postgres/sqlstates';
import pg from 'pg';
import { Event, type Source } from '../core/event.ts';
import { badEvent } from '../core/reading-events.ts';
import { EventStore, type AppendResult, type Batch } from '../core/ports.ts';
import { APPEND_EVENTS, APPEND_ONLY_NEW_EVENTS, SEPARATOR, type AppendedCounts } from './append-events.sql.ts';
import { READ_CURSOR } from './loader-sources.sql.ts';

/** SQLSTATE classes of faults in the data itself (22 data exception, 54 limit exceeded). A retry cannot help. */
const DATA_FAULT = /^(22|54)/;

/** A source of events with what its events feed, as the settings describe it. */
export interface StoredSource extends Source {
  /** For example `payments`. The statement that stores the events then marks them as due. Without it they are only stored. */
  readonly feeds?: string;
}

/** The connection pools of one loader process. */
export interface LoaderPools {
  /** For appends of events. */
  readonly commit: pg.Pool;
  /** For reads, and for writes about a source that no decision depends on, such as its last error. */
  readonly reads: pg.Pool;
  close(): Promise<void>;
}

/** PostgreSQL settings that leave the planner only index scans and nested loops. */
const INDEX_SCANS_ONLY = ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin'].map((plan) => `-c enable_${plan}=off`).join(' ');

/**
 * Opens the connection pools of one loader. Connections for appends are SERIALIZABLE by their settings, and an append is one
 * statement, so it is a transaction in one round trip. Of two concurrent appends of one source the second waits for the lock of
 * the source's row and then finds that the cursor has moved. All rows are found by index: a scan of the table `loader_sources`
 * would read the rows of other sources and cause serialization conflicts between all appends, and a hash join would read all
 * events of a source to find a few duplicates.
 */
export function openLoaderPools(url: string): LoaderPools {
  const open = (options: string): pg.Pool => {
    const pool = new pg.Pool({
      ...{ connectionString: url, max: 2, application_name: 'tribina-loader', connectionTimeoutMillis: 2000, keepAlive: true },
      options: `-c lock_timeout=8s -c statement_timeout=30s ${options}`,
    });
    pool.on('error', () => undefined);
    return pool;
  };
  const [commit, reads] = [open(`-c default_transaction_isolation=serializable ${INDEX_SCANS_ONLY}`), open('')];
  return { commit, reads, close: async () => void (await Promise.all([commit.end(), reads.end()])) };
}

/** Stores the loaded events and the cursor of each source in PostgreSQL. */
export class PostgresEventStore extends EventStore {
  constructor(
    private readonly pools: LoaderPools,
    private readonly retryOptions: RetryOptions,
  ) {
    super();
  }

  async lastKnownId({ name }: Source): Promise<string | undefined> {
    const { reads } = this.pools;
    const { rows } = await reads.query<{ cursor: string | null }>(READ_CURSOR.with({ source: name }));
    if (rows.length === 0) await reads.query('insert into loader_sources (source) values ($1) on conflict do nothing', [name]);
    return rows[0]?.cursor ?? undefined;
  }

  async append(batch: Batch): Promise<AppendResult> {
    try {
      return await this.appendOrRetry(batch);
    } catch (error) {
      if (!DATA_FAULT.test(sqlstateOf(error) ?? '')) throw error;
      return this.appendOrRetry(await this.withoutUnstorable(batch, error));
    }
  }

  private appendOrRetry(batch: Batch): Promise<AppendResult> {
    return retrySerializable(() => this.appendOnce(batch), this.retryOptions);
  }

  /**
   * Most batches have only new events, so the faster APPEND_ONLY_NEW_EVENTS is tried first. If it fails because an event is
   * already stored, APPEND_EVENTS runs.
   */
  private async appendOnce(batch: Batch): Promise<AppendResult> {
    const mayHaveKnownEvents = batch.source.overlap > 0 || batch.unrequested.length > 0;
    if (mayHaveKnownEvents) return this.send(APPEND_EVENTS, batch);
    try {
      return await this.send(APPEND_ONLY_NEW_EVENTS, batch);
    } catch (error) {
      if (!isUniqueViolation(error, 'loaded_events_pkey')) throw error;
      return this.send(APPEND_EVENTS, batch);
    }
  }

  private async send(statement: typeof APPEND_EVENTS, batch: Batch): Promise<AppendResult> {
    const offered = [...batch.events, ...batch.unrequested];
    const { rows } = await this.pools.commit.query<AppendedCounts>(
      statement.with({
        source: batch.source.name,
        from: batch.from ?? null,
        to: batch.to ?? null,
        lockNumber: batch.lockNumber,
        ids: offered.map(({ id }) => id).join(SEPARATOR),
        payloads: offered.map(({ payload }) => JSON.stringify(payload)).join(SEPARATOR),
        offeredCount: offered.length,
        storableCount: batch.events.length,
        bad: JSON.stringify(batch.bad.map((bad) => ({ ...bad, content: storable(bad.content), detail: storable(bad.detail) }))),
        duplicates: batch.duplicates,
        gaps: batch.gaps,
        feeds: (batch.source as StoredSource).feeds ?? null,
        digestId: batch.digest?.upToId ?? null,
        digestCount: batch.digest?.count ?? null,
        isCaughtUp: batch.isCaughtUp,
      }),
    );
    return rows[0] ? { kind: 'appended', ...rows[0] } : { kind: 'stale' };
  }

  /**
   * Moves events that PostgreSQL cannot store to the bad events of the batch. One such event makes the whole append fail, so each
   * payload is tested alone.
   */
  private async withoutUnstorable(batch: Batch, cause: unknown): Promise<Batch> {
    const unstorable = new Set<Event>();
    for (const event of [...batch.events, ...batch.unrequested]) {
      const sqlstate = await this.pools.reads
        .query('select $1::jsonb is null', [JSON.stringify(event.payload)])
        .then(() => undefined, sqlstateOf);
      if (DATA_FAULT.test(sqlstate ?? '')) unstorable.add(event);
    }
    if (unstorable.size === 0) throw cause;
    const bad = [...unstorable].map(({ id, payload }) => badEvent(id, 'the database cannot store the payload', payload));
    const isStorable = (event: Event): boolean => !unstorable.has(event);
    return {
      ...batch,
      events: batch.events.filter(isStorable),
      unrequested: batch.unrequested.filter(isStorable),
      bad: [...batch.bad, ...bad],
    };
  }
}

/** Replaces the characters that PostgreSQL cannot store in a text: NUL and lone surrogates. */
function storable(text: string): string {
  return text.replaceAll('\0', '␀').toWellFormed();
}
