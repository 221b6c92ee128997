import { DomainError } from '#domain/shared/domain-error';
import { RequestRefused } from '#platform/http/request-refused';
import { isConnectionLoss, RETRYABLE_SQLSTATES, sqlstateOf } from '#platform/postgres/sqlstates';
import { backoffMs, MAX_ATTEMPTS } from '#platform/postgres/transaction-manager';
import pg from 'pg';

/** How long a server may need to notice that the connection of a statement is gone. */
const END_OF_BACKEND_MS = 5000;
const POLL_EVERY_MS = 100;

export interface WriterConnectionOptions {
  readonly url: string;
  readonly name: string;
  /** Settings of the session, as command line options. */
  readonly planning: string;
  readonly onRetry: (sqlstate: string) => void;
}

interface Statement {
  /** Prepared once a connection: planning a batch costs more than running it. */
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

/**
 * Two connections of a lane's own: one on which every statement is a SERIALIZABLE transaction by itself (settings of the
 * session instead of BEGIN and COMMIT, so that a batch is one round trip), one for looking. Not `pool.query()`, which closes
 * the connection on every error, also on those that are worth repeating (research/limits.md §0.10).
 */
export class WriterConnection {
  private readonly clients = new Map<'commit' | 'look', pg.Client>();

  constructor(private readonly options: WriterConnectionOptions) {}

  /** Reads and decides nothing, so a connection that broke is simply made again. */
  async look<R>(statement: Statement): Promise<R[]> {
    const client = await this.connected('look');
    try {
      return (await client.query(statement)).rows as R[];
    } catch (error) {
      if (!isConnectionLoss(error)) throw error;
      this.forget(client);
      return (await (await this.connected('look')).query(statement)).rows as R[];
    }
  }

  /**
   * Commits the statement, again on contention, at most six times. When the connection breaks the outcome is unknown: once
   * the lost backend is gone the server is asked whether it `happened`, and it is run again only if it did not.
   */
  async commit<R>(statement: Statement, happened: (client: pg.Client) => Promise<R[] | undefined>): Promise<R[]> {
    for (let attempt = 1; ; attempt += 1) {
      const client = await this.connected('commit');
      try {
        const result = await client.query(statement);
        return result.rows as R[];
      } catch (error) {
        const sqlstate = sqlstateOf(error);
        if (sqlstate && !isConnectionLoss(error)) await this.beforeAnotherAttempt(error, sqlstate, attempt);
        else {
          const found = await this.afterLoss(client, happened);
          if (found) return found;
          if (attempt >= MAX_ATTEMPTS) throw error;
        }
      }
    }
  }

  async close(): Promise<void> {
    const clients = [...this.clients.values()];
    this.clients.clear();
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }

  private async beforeAnotherAttempt(error: unknown, sqlstate: string, attempt: number): Promise<void> {
    if (!RETRYABLE_SQLSTATES.has(sqlstate)) throw error;
    if (attempt >= MAX_ATTEMPTS) {
      throw new DomainError('LOCK_TIMEOUT', 'Too many others want the same right now. Nothing was changed; try again.');
    }
    this.options.onRetry(sqlstate);
    await pause(backoffMs(attempt, Math.random));
  }

  private async connected(role: 'commit' | 'look'): Promise<pg.Client> {
    const known = this.clients.get(role);
    if (known) return known;
    const isolation = role === 'commit' ? 'serializable' : 'read\\ committed';
    const client = new pg.Client({
      connectionString: this.options.url,
      application_name: `tribina-${this.options.name}`,
      connectionTimeoutMillis: 2000,
      keepAlive: true,
      options: `-c default_transaction_isolation=${isolation} -c lock_timeout=8s -c statement_timeout=20s ${this.options.planning}`,
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

  private async afterLoss<R>(
    lost: pg.Client,
    happened: (client: pg.Client) => Promise<R[] | undefined>,
  ): Promise<R[] | undefined> {
    const pid = backendOf(lost);
    this.forget(lost);
    const giveUpAt = Date.now() + END_OF_BACKEND_MS;
    for (;;) {
      try {
        const client = await this.connected('commit');
        const alive = await client.query('select 1 from pg_stat_activity where pid = $1 and pid <> pg_backend_pid()', [pid]);
        if (alive.rows.length === 0) return await happened(client);
      } catch {
        this.clients.delete('commit');
      }
      if (Date.now() > giveUpAt) {
        throw new DomainError(
          'OUTCOME_UNKNOWN',
          'The database broke off while committing. Send the request again with the same key.',
        );
      }
      await pause(POLL_EVERY_MS);
    }
  }
}

function backendOf(client: pg.Client): number {
  return (client as unknown as { processID?: number }).processID ?? 0;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
