import pg from 'pg';

/** First key of the advisory locks that elect leaders; the second key is the task. */
const LOCK_CLASS = 7_426_003;
/** After this time without a statement the server ends the transaction of the leader, and so its leadership. */
const SILENCE_TIMEOUT_SECONDS = 15;
/** Timeout for connecting and for a query. Normally each takes milliseconds, because nobody waits for the lock. */
const TIMEOUT_MS = 5000;

/**
 * Elects one leader for `task` among all processes. The leader holds an advisory lock in an open transaction, on a connection of
 * its own, and sends a statement at each `isLeader`. The lock is freed when the process ends, when the connection breaks, and
 * when the process hangs, because the server ends a transaction that is silent for 15 s. A process that hung and continues may
 * not know yet that it lost the lock. So the task must be safe when two processes run it for a moment.
 */
export class Leadership {
  private client: pg.Client | undefined;
  private isLeading = false;

  constructor(
    private readonly url: string,
    private readonly task: string,
    private readonly silenceTimeoutSeconds = SILENCE_TIMEOUT_SECONDS,
  ) {}

  /** True when this process is the leader. Takes the lock if it is free. Call it before each run of the task. */
  async isLeader(): Promise<boolean> {
    const wasLeading = this.isLeading;
    try {
      const client = await this.connect();
      if (this.isLeading) await client.query('select 1');
      else this.isLeading = await this.take(client);
      return this.isLeading;
    } catch (error) {
      // Not awaited: after a timeout the server may also fail to confirm that the connection is closed.
      void this.giveUp();
      if (wasLeading) return false;
      throw error;
    }
  }

  /** Ends the leadership of this process, so that another process can become the leader. */
  async giveUp(): Promise<void> {
    const { client } = this;
    this.client = undefined;
    this.isLeading = false;
    await client?.end().catch(() => undefined);
  }

  private async take(client: pg.Client): Promise<boolean> {
    await client.query('begin isolation level read committed');
    const { rows } = await client.query<{ taken: boolean }>(
      `select pg_try_advisory_xact_lock($1, hashtext($2)) as taken, set_config('idle_in_transaction_session_timeout', $3, true)`,
      [LOCK_CLASS, this.task, `${this.silenceTimeoutSeconds}s`],
    );
    const taken = rows[0]?.taken ?? false;
    if (!taken) await client.query('rollback');
    return taken;
  }

  /** Opens a connection outside the pool, because the leader keeps it as long as the process lives. */
  private async connect(): Promise<pg.Client> {
    if (this.client) return this.client;
    const client = new pg.Client({
      connectionString: this.url,
      application_name: `tribina-${this.task}`,
      connectionTimeoutMillis: TIMEOUT_MS,
      query_timeout: TIMEOUT_MS,
      keepAlive: true,
    });
    // Without a listener an error event would crash the process. The next query on this connection reports the error.
    client.on('error', () => undefined);
    await client.connect();
    this.client = client;
    return client;
  }
}
