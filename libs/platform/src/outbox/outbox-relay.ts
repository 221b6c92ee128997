import type { DataSource } from 'typeorm';
import type { Logger } from '../logging/logger.ts';
import { driverClientOf, prepared, type DriverClient } from '../postgres/database.ts';
import { BEGIN_READ_COMMITTED } from '../postgres/read-committed.ts';
import { rollBack } from '../postgres/roll-back.ts';
import { takeBundles } from './bundles.ts';
import type { Delivery, Destination, RelayedMessage } from './destination.ts';
import { alreadySent, IS_STALE, IS_WANTED, STALE_ERROR, unparkStale } from './stale-messages.ts';

/** Maximum number of messages in one run. The specification fixes this number. */
export const MAX_BATCH = 1000;
/** After this time the delivery counts as failed. Messages that arrive all the same are recognised by their ids. */
const DELIVERY_TIMEOUT_MS = 20_000;
/** After this number of failures a row is parked for operators, so that it does not block later rows of its aggregate. */
const MAX_FAILURES = 10;

/**
 * Claims due rows, oldest first. SKIP LOCKED lets several relays share the work. A row waits while an earlier row of its
 * aggregate for the same destination is in the outbox, even if another relay has locked that one. This keeps the order within
 * an aggregate, but not across destinations: when the waiting room is down, tickets must still be delivered. READ COMMITTED on
 * purpose: the relay moves rows and decides nothing; at SERIALIZABLE every buyer's insert would conflict with it. The
 * `|| ''` keeps the planner from using the index by destination, where the search for an earlier row of the aggregate would
 * scan all earlier rows.
 */
const CLAIM = `
  select id, event, body, ${IS_STALE}, ${IS_WANTED} from outbox o
  where destination = $1 and parked_at is null and available_at <= now()
    and (aggregate_id is null or not exists (
      select from outbox earlier
      where earlier.aggregate_id = o.aggregate_id and earlier.seq < o.seq
        and earlier.destination || '' = o.destination and earlier.parked_at is null))
  order by seq limit $2 for update skip locked`;

/** Sequential scans are off: the claim is prepared, often while the table is empty, and the same plan must serve a long queue. */
const BEGIN = `
  ${BEGIN_READ_COMMITTED};
  set local idle_in_transaction_session_timeout = '60s';
  set local enable_seqscan = off`;

/** Records a failure and sets the next attempt. The last ten errors stay in the row; operators read them when it is parked. */
const RECORD_FAILURE = `
  update outbox set attempts = attempts + 1, last_error = $2,
    failures = case when jsonb_array_length(failures) >= 10 then failures - 0 else coalesce(failures, '[]') end
      || jsonb_build_object('at', clock_timestamp(), 'error', $2::text),
    available_at = now() + make_interval(secs => least(60, 0.5 * 2 ^ least(attempts, 10))),
    parked_at = case when $3 = 'poison' or ($3 = 'failed' and attempts + 1 >= $4) then now() end
  where id = $1`;

/** Delivers the rows of one destination. `runOnce` delivers one batch; RelayLoop calls it repeatedly. */
export class OutboxRelay {
  constructor(
    private readonly dataSource: DataSource,
    readonly destination: Destination,
    private readonly logger: Logger,
    private readonly deliveryTimeoutMs = DELIVERY_TIMEOUT_MS,
  ) {}

  /** Delivers one batch; returns the number of rows it handled. `force` also sends messages that were parked for their age. */
  async runOnce(limit = MAX_BATCH, { force = false } = {}): Promise<number> {
    const runner = this.dataSource.createQueryRunner();
    try {
      const client = await driverClientOf(runner);
      const maxRows = Math.min(limit, this.destination.batchSize, MAX_BATCH);
      return await this.runBatch(client, maxRows, { force }).catch(async (error: unknown) => {
        await rollBack(client);
        throw error;
      });
    } finally {
      await runner.release();
    }
  }

  private async runBatch(client: DriverClient, maxRows: number, { force, isBundling = true }: BatchOptions): Promise<number> {
    const { name, keepsCopy, refusesStale, minRowsForBundles } = this.destination;
    // Only the claim is sent before BEGIN is answered: if BEGIN failed, the claim's locks are freed at once and nothing is sent.
    const begun = client.query(BEGIN);
    if (force && refusesStale) await begun.then(() => unparkStale(client, name));
    const bundled =
      isBundling && minRowsForBundles !== undefined
        ? await begun.then(() => this.deliverBundles(client, maxRows, minRowsForBundles))
        : 0;
    if (bundled === undefined) {
      await client.query('ROLLBACK');
      return this.runBatch(client, maxRows, { force, isBundling: false });
    }
    const [rows] = await Promise.all([bundled === maxRows ? [] : claim(client, name, maxRows - bundled), begun]);
    const stale = refusesStale ? rows.filter((row) => row.stale) : [];
    const [wanted, refused] = [stale.filter((row) => force || row.wanted), stale.filter((row) => !force && !row.wanted)];
    const settled = [...(await this.deleteAlreadySent(client, wanted)), ...(await this.parkStale(client, refused))];
    const settledIds = new Set(settled.map(({ id }) => id));
    const messages = settledIds.size > 0 ? rows.filter(({ id }) => !settledIds.has(id)) : rows;
    const deliveries = messages.length > 0 ? await this.deliver(messages) : [];
    await Promise.all([settle(client, deliveries, keepsCopy ? MOVE_TO_QUEUED_JOBS : DELETE), client.query('COMMIT')]);
    for (const delivery of [...settled, ...deliveries]) if (delivery.outcome !== 'delivered') this.report(delivery);
    return bundled + rows.length;
  }

  /**
   * Returns the number of rows delivered in bundles. Undefined when a bundle is refused: then the caller delivers row by row, so
   * that only the faulty row is parked.
   */
  private async deliverBundles(client: DriverClient, limit: number, minRows: number): Promise<number | undefined> {
    const bundles = await takeBundles(client, this.destination.name, { limit, minRows });
    if (bundles.length === 0) return 0;
    const deliveries = await this.deliver(bundles);
    if (deliveries.some(({ outcome }) => outcome !== 'delivered')) return undefined;
    return bundles.reduce((sum, { jobs }) => sum + jobs, 0);
  }

  private async parkStale(client: DriverClient, stale: readonly ClaimedRow[]): Promise<readonly Delivery[]> {
    const refused = stale.map(({ id }): Delivery => ({ id, outcome: 'poison', error: STALE_ERROR }));
    await settle(client, refused, DELETE);
    return refused;
  }

  /**
   * For old messages that an operator wants sent: deletes the rows of messages that were sent before, so that they are not sent
   * again.
   */
  private async deleteAlreadySent(client: DriverClient, wanted: readonly ClaimedRow[]): Promise<readonly Delivery[]> {
    if (wanted.length === 0) return [];
    const sentIds = await alreadySent(
      client,
      wanted.map(({ id }) => id),
    );
    const settled = [...sentIds].map((id): Delivery => ({ id, outcome: 'delivered' }));
    await settle(client, settled, DELETE);
    return settled;
  }

  private async deliver(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_resolve, reject) => {
      const error = new Error(
        `${this.destination.name} did not answer the delivery of ${messages.length} messages within ${this.deliveryTimeoutMs} ms`,
      );
      timer = setTimeout(() => reject(error), this.deliveryTimeoutMs);
    });
    return Promise.race([this.destination.deliver(messages), timeout]).finally(() => clearTimeout(timer));
  }

  private report(delivery: Exclude<Delivery, { outcome: 'delivered' }>): void {
    const log = delivery.outcome === 'poison' ? this.logger.error.bind(this.logger) : this.logger.warn.bind(this.logger);
    log({ message_id: delivery.id, destination: this.destination.name, reason: delivery.error }, `message ${delivery.outcome}`);
  }
}

interface BatchOptions {
  readonly force: boolean;
  readonly isBundling?: boolean;
}

type ClaimedRow = RelayedMessage & { readonly stale: boolean; readonly wanted: boolean };

const DELETE = 'delete from outbox where id = any($1::uuid[])';
const MOVE_TO_QUEUED_JOBS = `
  with delivered as (${DELETE} returning id, destination, body)
  insert into queued_jobs (message_id, queue, body) select id, destination, body from delivered on conflict do nothing`;

async function claim(client: DriverClient, destination: string, maxRows: number): Promise<ClaimedRow[]> {
  return (await client.query<{ rows: ClaimedRow[] }>(prepared(CLAIM, [destination, maxRows]))).rows;
}

/**
 * Removes delivered rows and records the failure of the others. All statements are sent before this returns a promise, so the
 * caller may send COMMIT without awaiting it.
 */
function settle(client: DriverClient, deliveries: readonly Delivery[], removeSql: string): Promise<unknown> {
  const delivered = deliveries.filter(({ outcome }) => outcome === 'delivered').map(({ id }) => id);
  const removing = delivered.length > 0 ? [client.query(prepared(removeSql, [delivered]))] : [];
  const recordingFailures = deliveries.flatMap((delivery) => {
    if (delivery.outcome === 'delivered') return [];
    // PostgreSQL's text type cannot hold NUL, and an error may contain any character.
    const reason = delivery.error.replaceAll('\0', '').slice(0, 1000);
    return [client.query(prepared(RECORD_FAILURE, [delivery.id, reason, delivery.outcome, MAX_FAILURES]))];
  });
  return Promise.all([...removing, ...recordingFailures]);
}
