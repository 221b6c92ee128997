import { Pool } from 'pg';
import type { PreparedStatement } from './named-sql.ts';
import { retrySerializable, type RetryOptions } from './serializable.ts';
import { isConnectionLoss, sqlstateOf } from './sqlstates.ts';

/** Two connections for the batches of mail claims (two run in parallel), and two for pushes, whose statements are not batched. */
const CONNECTIONS = 4;
/** Longer than PostgreSQL's statement timeout of 9 s, so it applies only when PostgreSQL does not answer at all. */
const QUERY_TIMEOUT_MS = 12_000;
const SETTINGS = ['default_transaction_isolation=serializable', 'lock_timeout=8s', 'statement_timeout=9s', 'enable_seqscan=off'];

/**
 * Runs transactions of a single statement. SERIALIZABLE is set on the connection, so that a transaction costs one round trip
 * instead of three. Use it only for statements that may run twice: when the connection breaks during a commit, the caller
 * does not learn whether the statement took effect.
 */
export class SingleStatements {
  private readonly pool: Pool;

  constructor(
    url: string,
    name: string,
    private readonly retryOptions: RetryOptions,
  ) {
    this.pool = new Pool({
      connectionString: url,
      application_name: `tribina-${name}`,
      max: CONNECTIONS,
      connectionTimeoutMillis: 2000,
      query_timeout: QUERY_TIMEOUT_MS,
      keepAlive: true,
      options: SETTINGS.map((setting) => `-c ${setting}`).join(' '),
    });
    this.pool.on('error', () => undefined);
  }

  /** Runs the statement and returns its rows. Retries it after a serialization failure or deadlock. */
  rows<T>(statement: PreparedStatement): Promise<T[]> {
    return retrySerializable(() => this.once<T>(statement), this.retryOptions);
  }

  async close(): Promise<void> {
    await this.pool.end();
  }

  /**
   * Runs the statement without a retry. Not with `pool.query`, which closes the connection even after an error that a retry
   * solves.
   */
  private async once<T>(statement: PreparedStatement): Promise<T[]> {
    const client = await this.pool.connect();
    let isBroken = false;
    try {
      return (await client.query(statement)).rows as T[];
    } catch (error) {
      // An error without an SQLSTATE did not come from the server (for example a timeout): the connection may be broken.
      isBroken = isConnectionLoss(error) || sqlstateOf(error) === undefined;
      throw error;
    } finally {
      client.release(isBroken);
    }
  }
}
