import type { DataSource } from 'typeorm';
import type { Logger } from '#platform/logging/logger';
import { driverClientOf, type DriverClient } from '#platform/postgres/database';
import { BEGIN_READ_COMMITTED } from '#platform/postgres/read-committed';
import { rollBack } from '#platform/postgres/roll-back';
import { inSpan, SpanKind, type SpanOptions } from '#platform/tracing/spans';
import { parseTraceparent } from '#platform/tracing/traceparent';
import { waitAtMost } from '#platform/wait-at-most';
import { TAKE_BUNDLES, type TakenBundle } from './bundles.sql.ts';
import type { Delivery, Destination, RelayedMessage } from './destination.ts';
import { CLAIM_MESSAGES, DELETE_MESSAGES, MOVE_TO_QUEUED_JOBS, RECORD_FAILURE, type ClaimedRow } from './outbox-relay.sql.ts';
import { FIND_ALREADY_SENT, STALE_ERROR, UNPARK_STALE } from './stale-messages.sql.ts';

/** Maximum number of messages in one batch of the relay. The specification fixes this number. */
export const MAX_BATCH = 1000;
/**
 * After this time the delivery counts as failed. If the messages arrive later, consumers recognise the second delivery by their
 * ids.
 */
const DELIVERY_TIMEOUT_MS = 20_000;
/** After this number of failures a row is parked for operators, so that it does not block later rows of its aggregate. */
const MAX_FAILURES = 10;

/**
 * Begins the transaction of a batch. Sequential scans are off, because CLAIM_MESSAGES is often prepared while the outbox is
 * empty, and the same plan must be fast when the outbox has many rows.
 */
const BEGIN = `
  ${BEGIN_READ_COMMITTED};
  set local idle_in_transaction_session_timeout = '60s';
  set local enable_seqscan = off`;

/** Delivers the outbox messages of one destination. `runOnce` delivers one batch; a periodic task calls it. */
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
      return await this.runBatch(client, maxRows, force).catch(async (error: unknown) => {
        await rollBack(client);
        throw error;
      });
    } finally {
      await runner.release();
    }
  }

  private async runBatch(client: DriverClient, maxRows: number, force: boolean, isBundling = true): Promise<number> {
    const { name, keepsCopy, refusesStale, minRowsForBundles } = this.destination;
    // Only CLAIM_MESSAGES is sent before BEGIN is answered: if BEGIN failed, its locks are freed at once, nothing is delivered.
    const begun = client.query(BEGIN);
    if (force && refusesStale)
      await begun.then(() => client.query(UNPARK_STALE.with({ destination: name, staleError: STALE_ERROR })));
    const bundled =
      isBundling && minRowsForBundles !== undefined
        ? await begun.then(() => this.deliverBundles(client, maxRows, minRowsForBundles))
        : 0;
    if (bundled === undefined) {
      await client.query('ROLLBACK');
      return this.runBatch(client, maxRows, force, false);
    }
    const claim = CLAIM_MESSAGES.with({ destination: name, limit: maxRows - bundled });
    const [{ rows }] = await Promise.all([
      bundled === maxRows ? { rows: [] } : client.query<{ rows: ClaimedRow[] }>(claim),
      begun,
    ]);
    const stale = refusesStale ? rows.filter((row) => row.stale) : [];
    const [wanted, refused] = [stale.filter((row) => force || row.wanted), stale.filter((row) => !force && !row.wanted)];
    const settled = [...(await this.deleteAlreadySent(client, wanted)), ...(await this.parkStale(client, refused))];
    const settledIds = new Set(settled.map(({ id }) => id));
    const messages = settledIds.size > 0 ? rows.filter(({ id }) => !settledIds.has(id)) : rows;
    const deliveries = messages.length > 0 ? await this.deliver(messages) : [];
    await Promise.all([
      recordOutcomes(client, deliveries, keepsCopy ? MOVE_TO_QUEUED_JOBS : DELETE_MESSAGES),
      client.query('COMMIT'),
    ]);
    for (const delivery of [...settled, ...deliveries]) if (delivery.outcome !== 'delivered') this.report(delivery);
    return bundled + rows.length;
  }

  /**
   * Returns the number of rows delivered in bundles. Undefined when the destination refuses a bundle: then the caller delivers
   * row by row, so that only the faulty row is parked.
   */
  private async deliverBundles(client: DriverClient, limit: number, minRows: number): Promise<number | undefined> {
    const statement = TAKE_BUNDLES.with({ destination: this.destination.name, limit, minRows });
    const { rows: bundles } = await client.query<{ rows: TakenBundle[] }>(statement);
    if (bundles.length === 0) return 0;
    const deliveries = await this.deliver(bundles);
    if (deliveries.some(({ outcome }) => outcome !== 'delivered')) return undefined;
    return bundles.reduce((sum, { jobs }) => sum + jobs, 0);
  }

  /** Parks messages that are too old to be sent. */
  private async parkStale(client: DriverClient, stale: readonly ClaimedRow[]): Promise<readonly Delivery[]> {
    const refused = stale.map(({ id }): Delivery => ({ id, outcome: 'poison', error: STALE_ERROR }));
    await recordOutcomes(client, refused, DELETE_MESSAGES);
    return refused;
  }

  /**
   * `wanted` are old messages that an operator wants to send. Deletes the rows of those that were already sent, so that they are
   * not sent a second time.
   */
  private async deleteAlreadySent(client: DriverClient, wanted: readonly ClaimedRow[]): Promise<readonly Delivery[]> {
    if (wanted.length === 0) return [];
    const statement = FIND_ALREADY_SENT.with({ ids: wanted.map(({ id }) => id) });
    const { rows } = await client.query<{ rows: { id: string }[] }>(statement);
    const settled = [...new Set(rows.map(({ id }) => id))].map((id): Delivery => ({ id, outcome: 'delivered' }));
    await recordOutcomes(client, settled, DELETE_MESSAGES);
    return settled;
  }

  private deliver(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]> {
    const describe = (): SpanOptions => ({
      kind: SpanKind.PRODUCER,
      attributes: { 'messaging.batch.message_count': messages.length },
      links: messages.map(({ traceparent }) => parseTraceparent(traceparent)),
    });
    return inSpan(`relay ${this.destination.name}`, describe, () => this.deliverInTime(messages));
  }

  private async deliverInTime(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]> {
    const deliveries = await waitAtMost(this.deliveryTimeoutMs, this.destination.deliver(messages), undefined);
    if (deliveries) return deliveries;
    throw new Error(
      `${this.destination.name} did not answer the delivery of ${messages.length} messages within ${this.deliveryTimeoutMs} ms`,
    );
  }

  private report(delivery: Exclude<Delivery, { outcome: 'delivered' }>): void {
    const log = delivery.outcome === 'poison' ? this.logger.error.bind(this.logger) : this.logger.warn.bind(this.logger);
    log({ message_id: delivery.id, destination: this.destination.name, reason: delivery.error }, `message ${delivery.outcome}`);
  }
}

/**
 * Writes the outcomes of deliveries to the outbox: removes the rows of delivered messages with the statement `removal`, and
 * records the failures in the rows of all other messages. All statements are sent before the function returns, so the caller may
 * send COMMIT without awaiting its promise.
 */
function recordOutcomes(
  client: DriverClient,
  deliveries: readonly Delivery[],
  removal: typeof DELETE_MESSAGES,
): Promise<unknown> {
  const delivered = deliveries.filter(({ outcome }) => outcome === 'delivered').map(({ id }) => id);
  const removing = delivered.length > 0 ? [client.query(removal.with({ ids: delivered }))] : [];
  const recordingFailures = deliveries.flatMap((delivery) => {
    if (delivery.outcome === 'delivered') return [];
    // PostgreSQL's text type cannot hold NUL, and an error may contain any character.
    const reason = delivery.error.replaceAll('\0', '').slice(0, 1000);
    const { id, outcome } = delivery;
    return [client.query(RECORD_FAILURE.with({ id, reason, outcome, maxFailures: MAX_FAILURES }))];
  });
  return Promise.all([...removing, ...recordingFailures]);
}
