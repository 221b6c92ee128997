import { backoffMs, isUniqueViolation, MAX_ATTEMPTS, RETRYABLE_SQLSTATES, sqlstateOf } from '#platform/postgres/sqlstates';
import pg from 'pg';
import { Event, type Source } from '../core/event.ts';
import { badEvent } from '../core/reading-events.ts';
import { EventStore, type Appended, type Batch } from '../core/ports.ts';
import { APPEND, APPEND_FRESH, SEPARATOR } from './append-statement.ts';

/** Of the server's complaints those about the data itself: what it cannot store, however often it is asked. */
const DATA_FAULT = /^(22|54)/;

/** The events of a source that feeds somebody here are noted as due in the same statement. */
export interface StoredSource extends Source {
  readonly feeds?: string;
}

export interface LoaderPools {
  /** For appends. */
  readonly commit: pg.Pool;
  /** For looking, and for notes about a source that decide nothing. */
  readonly look: pg.Pool;
  close(): Promise<void>;
}

const BY_KEY = ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin'].map((way) => `-c enable_${way}=off`).join(' ');

/**
 * Sessions for appends are SERIALIZABLE by their own settings, and an append is one statement: a transaction in one round trip.
 * Two appends of one source meet at its row; the second finds the cursor moved. Everything is reached by key: a
 * scan of the small table of sources would read every other source's row, and put all appends in each other's way; a hash join
 * would read a whole source to find a few repetitions.
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
  const [commit, look] = [open(`-c default_transaction_isolation=serializable ${BY_KEY}`), open('')];
  return { commit, look, close: async () => void (await Promise.all([commit.end(), look.end()])) };
}

export class PostgresEventStore extends EventStore {
  constructor(private readonly pools: LoaderPools) {
    super();
  }

  async lastKnownId({ name }: Source): Promise<string | undefined> {
    const { look } = this.pools;
    const find = { name: 'loader-cursor', text: 'select cursor from loader_sources where source = $1', values: [name] };
    const { rows } = await look.query<{ cursor: string | null }>(find);
    if (rows.length === 0) await look.query('insert into loader_sources (source) values ($1) on conflict do nothing', [name]);
    return rows[0]?.cursor ?? undefined;
  }

  async append(batch: Batch): Promise<Appended> {
    try {
      return await this.appendOrRetry(batch);
    } catch (error) {
      if (!DATA_FAULT.test(sqlstateOf(error) ?? '')) throw error;
      return this.appendOrRetry(await this.withoutUnstorable(batch, error));
    }
  }

  private async appendOrRetry(batch: Batch): Promise<Appended> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.appendOnce(batch);
      } catch (error) {
        if (!RETRYABLE_SQLSTATES.has(sqlstateOf(error) ?? '') || attempt >= MAX_ATTEMPTS) throw error;
        await new Promise((resolve) => setTimeout(resolve, backoffMs(attempt, Math.random)));
      }
    }
  }

  /** Most batches hold nothing that is known; who finds something asks the way that bears it. */
  private async appendOnce(batch: Batch): Promise<Appended> {
    const mayRepeat = batch.source.overlap > 0 || batch.unasked.length > 0;
    if (mayRepeat) return this.send({ name: 'loader-append', text: APPEND }, batch);
    try {
      return await this.send({ name: 'loader-append-fresh', text: APPEND_FRESH }, batch);
    } catch (error) {
      if (!isUniqueViolation(error, 'loaded_events_pkey')) throw error;
      return this.send({ name: 'loader-append', text: APPEND }, batch);
    }
  }

  private async send(statement: { name: string; text: string }, batch: Batch): Promise<Appended> {
    const offered = [...batch.events, ...batch.unasked];
    const values = [
      batch.source.name,
      batch.from ?? null,
      batch.to ?? null,
      batch.fence,
      offered.map(({ id }) => id).join(SEPARATOR),
      offered.map(({ payload }) => JSON.stringify(payload)).join(SEPARATOR),
      batch.events.length,
      JSON.stringify(batch.bad.map((bad) => ({ ...bad, content: storable(bad.content), detail: storable(bad.detail) }))),
      batch.repeated,
      batch.gaps,
      (batch.source as StoredSource).feeds ?? null,
      batch.digest?.upToId ?? null,
      batch.digest?.count ?? null,
      offered.length,
      batch.isAll,
    ];
    const { rows } = await this.pools.commit.query<{ stored: number; refused: number; quarantined: number }>({
      ...statement,
      values,
    });
    return rows[0] ? { kind: 'appended', ...rows[0] } : { kind: 'outpaced' };
  }

  /** The server refuses a whole batch for one event; asked one by one it says which. */
  private async withoutUnstorable(batch: Batch, cause: unknown): Promise<Batch> {
    const unstorable = new Set<Event>();
    for (const event of [...batch.events, ...batch.unasked]) {
      const sqlstate = await this.pools.look
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
      unasked: batch.unasked.filter(isStorable),
      bad: [...batch.bad, ...bad],
    };
  }
}

/** Text for people, without the characters PostgreSQL has no place for. */
function storable(text: string): string {
  return text.replaceAll('\0', '␀').toWellFormed();
}
