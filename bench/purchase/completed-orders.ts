import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const POLL_EVERY_MS = 8;
/** A webhook that failed is sent again after a second, then two; whoever waits longer than this waits for ever. */
const PATIENCE_MS = 15_000;

/**
 * Tells buyers that their order is complete: one look at the table for all of them, by key, as 64 buyers asking over HTTP
 * every few milliseconds would be most of the load. The order's status and its tickets are one commit.
 */
export class CompletedOrders {
  readonly #client: pg.Client;
  readonly #waiting = new Map<string, (completed: boolean) => void>();
  readonly #looking: Promise<void>;
  #closing = false;

  private constructor(client: pg.Client) {
    this.#client = client;
    this.#looking = this.#look();
  }

  static async watch(databaseUrl: string): Promise<CompletedOrders> {
    const client = new pg.Client({ connectionString: databaseUrl, options: '-c enable_seqscan=off' });
    await client.connect();
    return new CompletedOrders(client);
  }

  /** False when it did not complete. */
  of(orderId: string): Promise<boolean> {
    return new Promise((resolve) => {
      const impatience = setTimeout(() => this.#settle(orderId, false), PATIENCE_MS);
      this.#waiting.set(orderId, (completed) => {
        clearTimeout(impatience);
        resolve(completed);
      });
    });
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.#looking;
    await this.#client.end();
  }

  async #look(): Promise<void> {
    while (!this.#closing) {
      await sleep(POLL_EVERY_MS);
      if (this.#waiting.size === 0) continue;
      const query = { name: 'completed', text: `select id from orders where id = any($1::uuid[]) and status = 'completed'` };
      const { rows } = await this.#client.query<{ id: string }>(query, [[...this.#waiting.keys()]]);
      for (const { id } of rows) this.#settle(id, true);
    }
  }

  #settle(orderId: string, completed: boolean): void {
    this.#waiting.get(orderId)?.(completed);
    this.#waiting.delete(orderId);
  }
}
