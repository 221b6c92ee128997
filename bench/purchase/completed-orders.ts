import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const POLL_INTERVAL_MS = 8;
/** Longest wait for an order. A failed webhook is sent again after one and after two seconds, so later the order will not complete. */
const COMPLETION_TIMEOUT_MS = 15_000;

/**
 * Notifies buyers when their orders are complete. One query by primary key checks all pending orders: 64 buyers that poll over HTTP
 * every few milliseconds would be most of the load. The status is enough: it is committed together with the tickets.
 */
export class CompletedOrders {
  readonly #client: pg.Client;
  readonly #waiting = new Map<string, (completed: boolean) => void>();
  readonly #polling: Promise<void>;
  #closing = false;

  private constructor(client: pg.Client) {
    this.#client = client;
    this.#polling = this.#poll();
  }

  static async watch(databaseUrl: string): Promise<CompletedOrders> {
    const client = new pg.Client({ connectionString: databaseUrl, options: '-c enable_seqscan=off' });
    await client.connect();
    return new CompletedOrders(client);
  }

  /** Resolves to true when the order is complete, to false after the timeout. */
  waitFor(orderId: string): Promise<boolean> {
    return new Promise((resolve) => {
      const timeout = setTimeout(() => this.#settle(orderId, false), COMPLETION_TIMEOUT_MS);
      this.#waiting.set(orderId, (completed) => {
        clearTimeout(timeout);
        resolve(completed);
      });
    });
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.#polling;
    await this.#client.end();
  }

  async #poll(): Promise<void> {
    while (!this.#closing) {
      await sleep(POLL_INTERVAL_MS);
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
