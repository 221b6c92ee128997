import { DomainError } from '#domain/shared/domain-error';
import { RequestRefused } from '#platform/http/request-refused';
import type { PreparedStatement } from '#platform/postgres/named-sql';
import { AttemptWithoutEffect, retrySerializable, type RetryOptions } from '#platform/postgres/serializable';
import { isConnectionLoss, sqlstateOf } from '#platform/postgres/sqlstates';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

/** How long PostgreSQL may take to notice a broken connection and to end its backend process. */
const BACKEND_END_TIMEOUT_MS = 5000;
const POLL_INTERVAL_MS = 100;

/** How a writer connection connects to PostgreSQL. */
export interface WriterConnectionOptions extends RetryOptions {
  readonly url: string;
  readonly name: string;
  /** PostgreSQL settings of the session, as command line options (`-c name=value`). */
  readonly settings: string;
}

/** After a connection broke during a commit: reads on a new connection what was committed. Undefined when nothing was. */
export type FindCommitted<R> = (client: pg.Client) => Promise<R[] | undefined>;

/**
 * Two database connections: one to commit, one to read. On the commit connection every statement is a SERIALIZABLE transaction of
 * its own (a session setting instead of BEGIN and COMMIT), so a batch is one round trip. It does not use `pool.query()`: a pool
 * closes the connection on every error, also on a serialization failure, which only needs another attempt.
 */
export class WriterConnection {
  private readonly clients = new Map<'commit' | 'read', pg.Client>();

  constructor(private readonly options: WriterConnectionOptions) {}

  /** Runs a statement that only reads. If the connection breaks, runs the statement once more on a new connection. */
  async read<R>(statement: PreparedStatement): Promise<R[]> {
    const client = await this.connected('read');
    try {
      return (await client.query(statement)).rows as R[];
    } catch (error) {
      if (!isConnectionLoss(error)) throw error;
      this.forget(client);
      return (await (await this.connected('read')).query(statement)).rows as R[];
    }
  }

  /**
   * Commits the statement, with up to six attempts on contention. When the connection breaks, the outcome is unknown: `commit`
   * waits until the lost backend process has ended, and `findCommitted` looks for the effect. Only if there is none, the
   * statement runs again.
   */
  commit<R>(statement: PreparedStatement, findCommitted: FindCommitted<R>): Promise<R[]> {
    return retrySerializable(async () => {
      const client = await this.connected('commit');
      try {
        return (await client.query(statement)).rows as R[];
      } catch (error) {
        if (sqlstateOf(error) && !isConnectionLoss(error)) throw error;
        const committed = await this.resolveUnknown(client, findCommitted);
        if (committed) return committed;
        throw new AttemptWithoutEffect('nothing was committed', { cause: error });
      }
    }, this.options);
  }

  async close(): Promise<void> {
    const clients = [...this.clients.values()];
    this.clients.clear();
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }

  private async connected(role: 'commit' | 'read'): Promise<pg.Client> {
    const known = this.clients.get(role);
    if (known) return known;
    const isolation = role === 'commit' ? 'serializable' : 'read\\ committed';
    const client = new pg.Client({
      connectionString: this.options.url,
      application_name: `tribina-${this.options.name}`,
      connectionTimeoutMillis: 2000,
      keepAlive: true,
      options: `-c default_transaction_isolation=${isolation} -c lock_timeout=8s -c statement_timeout=20s ${this.options.settings}`,
    });
    client.on('error', () => this.forget(client));
    await client.connect().catch((error: unknown) => {
      throw new RequestRefused('DEPENDENCY_UNAVAILABLE', {
        detail: 'The database does not answer. Nothing was changed.',
        cause: error,
      });
    });
    this.clients.set(role, client);
    return client;
  }

  private forget(client: pg.Client): void {
    for (const [role, known] of this.clients) if (known === client) this.clients.delete(role);
    client.end().catch(() => undefined);
  }

  private async resolveUnknown<R>(lost: pg.Client, findCommitted: FindCommitted<R>): Promise<R[] | undefined> {
    const { processID: pid = 0 } = lost as unknown as { processID?: number };
    this.forget(lost);
    const giveUpAt = Date.now() + BACKEND_END_TIMEOUT_MS;
    for (;;) {
      try {
        const client = await this.connected('commit');
        const backend = await client.query('select 1 from pg_stat_activity where pid = $1 and pid <> pg_backend_pid()', [pid]);
        if (backend.rows.length === 0) return await findCommitted(client);
      } catch {
        this.clients.delete('commit');
      }
      if (Date.now() > giveUpAt) {
        throw new DomainError(
          'OUTCOME_UNKNOWN',
          'The database broke off while committing. Send the request again with the same key.',
        );
      }
      await pause(POLL_INTERVAL_MS);
    }
  }
}
