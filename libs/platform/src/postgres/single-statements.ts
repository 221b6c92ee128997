import { Pool } from 'pg';
import { DomainError } from '#domain/shared/domain-error';
import { prepared } from './database.ts';
import { backoffMs, isConnectionLoss, MAX_ATTEMPTS, RETRYABLE_SQLSTATES, sqlstateOf } from './sqlstates.ts';

/** Two for the rounds of mails, where what is asked meanwhile comes along with the next; the others for pushes, one at a time. */
const CONNECTIONS = 4;
/** The server says no after nine seconds; one that says nothing is given up. */
const SILENCE_MS = 12_000;
const SETTINGS = ['default_transaction_isolation=serializable', 'lock_timeout=8s', 'statement_timeout=9s', 'enable_seqscan=off'];

/**
 * Writes that are one statement each: SERIALIZABLE by a setting of their connections, so that a transaction is one round trip
 * instead of three. Only what may be said twice is written here: nobody asks whether a commit that got no answer happened.
 */
export class SingleStatements {
  private readonly pool: Pool;

  constructor(url: string, name: string) {
    this.pool = new Pool({
      connectionString: url,
      application_name: `tribina-${name}`,
      max: CONNECTIONS,
      connectionTimeoutMillis: 2000,
      query_timeout: SILENCE_MS,
      keepAlive: true,
      options: SETTINGS.map((setting) => `-c ${setting}`).join(' '),
    });
    this.pool.on('error', () => undefined);
  }

  /** `sql` is a constant: it is prepared. */
  async rows<T>(sql: string, parameters: readonly unknown[]): Promise<T[]> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      try {
        return await this.once<T>(sql, parameters);
      } catch (error) {
        if (!RETRYABLE_SQLSTATES.has(sqlstateOf(error) ?? '')) throw error;
        await new Promise((resolve) => setTimeout(resolve, backoffMs(attempt, Math.random)));
      }
    }
    throw new DomainError('LOCK_TIMEOUT', 'Too many others want the same right now. Nothing was changed; try again.');
  }

  async close(): Promise<void> {
    await this.pool.end();
  }

  /** Not `pool.query`: that throws the connection away for every error, also for one that only wants another try. */
  private async once<T>(sql: string, parameters: readonly unknown[]): Promise<T[]> {
    const client = await this.pool.connect();
    let isBroken = false;
    try {
      return (await client.query(prepared(sql, parameters) as { name: string; text: string; values: unknown[] })).rows as T[];
    } catch (error) {
      // Without a word of the server nobody knows what the connection is worth.
      isBroken = isConnectionLoss(error) || sqlstateOf(error) === undefined;
      throw error;
    } finally {
      client.release(isBroken);
    }
  }
}
