import pg from 'pg';

/** Class of the advisory locks of those who do something alone. */
const LOCK_CLASS = 7_426_003;
/** A leader that stands still for so long is one no more. */
const SILENCE_SECONDS = 15;
/** Taking a lock without waiting takes a millisecond. */
const PATIENCE_MS = 5000;

/**
 * Of all replicas, the one that does `what`. The lock is a transaction's, on a connection of its own that says something
 * whenever it is asked: it is gone with the process, with the connection, and with a process that is frozen, because the server ends
 * a transaction that is silent for 15 s. A leader that wakes up later may not know that yet, so what it does must bear being done
 * by two for a moment.
 */
export class Leadership {
  private client: pg.Client | undefined;
  private isLeading = false;

  constructor(
    private readonly url: string,
    private readonly what: string,
    private readonly silenceSeconds = SILENCE_SECONDS,
  ) {}

  /** Takes it when nobody has it. To be asked before each round. */
  async isMine(): Promise<boolean> {
    const wasLeading = this.isLeading;
    try {
      const client = await this.connected();
      if (this.isLeading) await client.query('select 1');
      else this.isLeading = await this.take(client);
      return this.isLeading;
    } catch (error) {
      // Not waited for: it may be silence itself that was the error.
      void this.giveUp();
      if (wasLeading) return false;
      throw error;
    }
  }

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
      [LOCK_CLASS, this.what, `${this.silenceSeconds}s`],
    );
    const taken = rows[0]?.taken ?? false;
    if (!taken) await client.query('rollback');
    return taken;
  }

  /** Not one of the pool's: it is held for as long as the process lives. */
  private async connected(): Promise<pg.Client> {
    if (this.client) return this.client;
    const client = new pg.Client({
      connectionString: this.url,
      application_name: `tribina-${this.what}`,
      connectionTimeoutMillis: PATIENCE_MS,
      query_timeout: PATIENCE_MS,
      keepAlive: true,
    });
    // Whatever becomes of it is heard by the next question.
    client.on('error', () => undefined);
    await client.connect();
    this.client = client;
    return client;
  }
}
