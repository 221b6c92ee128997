import type { DataSource } from 'typeorm';
import type { Logger } from '../logging/logger.ts';
import { driverClientOf, prepared, type DriverClient } from '../postgres/database.ts';
import { BEGIN_READ_COMMITTED } from '../postgres/moving-rows.ts';
import { rollBack } from '../postgres/roll-back.ts';
import { takeBundles } from './bundles.ts';
import type { Delivery, Destination, RelayedMessage } from './destination.ts';
import { bringBackStale, IS_STALE, IS_WANTED, leftAlready, STALE } from './stale-messages.ts';

/** The seed's number: a round never takes more. */
export const MAX_BATCH = 1000;
/** A way out that takes longer than this is no way out now; whatever still gets through is recognised by its id. */
const DELIVERY_PATIENCE_MS = 20_000;
/** A row that failed this often is set aside for people to look at, so that it blocks nothing behind it. */
const PARKED_AFTER = 10;

/**
 * Claims what is due, oldest first. SKIP LOCKED lets relays share the work; a row whose aggregate has an earlier one for the
 * same destination that is still here (also locked by another relay) waits for it, which keeps the order of each aggregate.
 * Not across destinations: a waiting room that is down must not hold back the tickets. READ COMMITTED on purpose: the relay
 * moves rows and decides nothing, and at SERIALIZABLE it would make every buyer's insert a conflict. The empty text keeps the
 * planner from the index by destination, in which "an earlier one of the aggregate" is a walk through everything earlier.
 */
const CLAIM = `
  select id, event, body, ${IS_STALE}, ${IS_WANTED} from outbox o
  where destination = $1 and parked_at is null and available_at <= now()
    and (aggregate_id is null or not exists (
      select from outbox earlier
      where earlier.aggregate_id = o.aggregate_id and earlier.seq < o.seq
        and earlier.destination || '' = o.destination and earlier.parked_at is null))
  order by seq limit $2 for update skip locked`;

/** Without sequential scans: the claim is prepared, often while the table is empty, and its plan has to serve a long queue. */
const BEGIN = `
  ${BEGIN_READ_COMMITTED};
  set local idle_in_transaction_session_timeout = '60s';
  set local enable_seqscan = off`;

/** The last ten failures are kept with the row: people read them once it is parked. */
const SET_BACK = `
  update outbox set attempts = attempts + 1, last_error = $2,
    failures = case when jsonb_array_length(failures) >= 10 then failures - 0 else coalesce(failures, '[]') end
      || jsonb_build_object('at', clock_timestamp(), 'error', $2::text),
    available_at = now() + make_interval(secs => least(60, 0.5 * 2 ^ least(attempts, 10))),
    parked_at = case when $3 = 'poison' or ($3 = 'failed' and attempts + 1 >= $4) then now() end
  where id = $1`;

/** Moves rows of one destination from the outbox to where they go. `runOnce` is one round; only `main` loops for ever. */
export class OutboxRelay {
  constructor(
    private readonly dataSource: DataSource,
    readonly destination: Destination,
    private readonly logger: Logger,
    private readonly patienceMs = DELIVERY_PATIENCE_MS,
  ) {}

  /** Delivers one batch; returns how many rows it dealt with. `force`: also what is refused for its age. */
  async runOnce(limit = MAX_BATCH, { force = false } = {}): Promise<number> {
    const runner = this.dataSource.createQueryRunner();
    try {
      const client = await driverClientOf(runner);
      const most = Math.min(limit, this.destination.batchSize, MAX_BATCH);
      return await this.round(client, most, { force }).catch(async (error: unknown) => {
        await rollBack(client);
        throw error;
      });
    } finally {
      await runner.release();
    }
  }

  private async round(client: DriverClient, most: number, { force, isBundling = true }: RoundOptions): Promise<number> {
    const { name, keepsCopy, refusesStale, bundlesFrom } = this.destination;
    // Only the claim may be on its way before it is answered: where nothing has begun its locks are free at once, and nothing leaves.
    const begun = client.query(BEGIN);
    if (force && refusesStale) await begun.then(() => bringBackStale(client, name));
    const bundled = isBundling && bundlesFrom !== undefined ? await begun.then(() => this.bundles(client, most, bundlesFrom)) : 0;
    if (bundled === undefined) {
      await client.query('ROLLBACK');
      return this.round(client, most, { force, isBundling: false });
    }
    const [rows] = await Promise.all([bundled === most ? [] : claim(client, name, most - bundled), begun]);
    const stale = refusesStale ? rows.filter((row) => row.stale) : [];
    const [wanted, refused] = [stale.filter((row) => force || row.wanted), stale.filter((row) => !force && !row.wanted)];
    const settled = [...(await this.takeAwayLeft(client, wanted)), ...(await this.refuseStale(client, refused))];
    const known = new Set(settled.map(({ id }) => id));
    const messages = known.size > 0 ? rows.filter(({ id }) => !known.has(id)) : rows;
    const deliveries = messages.length > 0 ? await this.deliver(messages) : [];
    await Promise.all([settle(client, deliveries, keepsCopy ? MOVE : DELETE), client.query('COMMIT')]);
    for (const delivery of [...settled, ...deliveries]) if (delivery.outcome !== 'delivered') this.report(delivery);
    return bundled + rows.length;
  }

  /** How many rows left in bundles. Undefined when one is refused: row by row the guilty one is found and set aside. */
  private async bundles(client: DriverClient, limit: number, from: number): Promise<number | undefined> {
    const bundles = await takeBundles(client, this.destination.name, { limit, from });
    if (bundles.length === 0) return 0;
    const deliveries = await this.deliver(bundles);
    if (deliveries.some(({ outcome }) => outcome !== 'delivered')) return undefined;
    return bundles.reduce((sum, { jobs }) => sum + jobs, 0);
  }

  private async refuseStale(client: DriverClient, stale: readonly Claimed[]): Promise<readonly Delivery[]> {
    const refused = stale.map(({ id }): Delivery => ({ id, outcome: 'poison', error: STALE }));
    await settle(client, refused, DELETE);
    return refused;
  }

  /** Somebody wants them sent although they are old; those that have left already do not leave again. */
  private async takeAwayLeft(client: DriverClient, wanted: readonly Claimed[]): Promise<readonly Delivery[]> {
    if (wanted.length === 0) return [];
    const left = await leftAlready(
      client,
      wanted.map(({ id }) => id),
    );
    const settled = [...left].map((id): Delivery => ({ id, outcome: 'delivered' }));
    await settle(client, settled, DELETE);
    return settled;
  }

  private async deliver(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]> {
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_resolve, reject) => {
      const give = new Error(`${this.destination.name} took none of ${messages.length} messages within ${this.patienceMs} ms`);
      timer = setTimeout(() => reject(give), this.patienceMs);
    });
    return Promise.race([this.destination.deliver(messages), tooLate]).finally(() => clearTimeout(timer));
  }

  private report(delivery: Exclude<Delivery, { outcome: 'delivered' }>): void {
    const log = delivery.outcome === 'poison' ? this.logger.error.bind(this.logger) : this.logger.warn.bind(this.logger);
    log({ message_id: delivery.id, destination: this.destination.name, reason: delivery.error }, `message ${delivery.outcome}`);
  }
}

interface RoundOptions {
  readonly force: boolean;
  readonly isBundling?: boolean;
}

type Claimed = RelayedMessage & { readonly stale: boolean; readonly wanted: boolean };

const DELETE = 'delete from outbox where id = any($1::uuid[])';
const MOVE = `
  with gone as (${DELETE} returning id, destination, body)
  insert into queued_jobs (message_id, queue, body) select id, destination, body from gone on conflict do nothing`;

async function claim(client: DriverClient, destination: string, most: number): Promise<Claimed[]> {
  return (await client.query<{ rows: Claimed[] }>(prepared(CLAIM, [destination, most]))).rows;
}

/** All of it is sent before this returns, so that a COMMIT may follow. */
function settle(client: DriverClient, deliveries: readonly Delivery[], takeAway: string): Promise<unknown> {
  const delivered = deliveries.filter(({ outcome }) => outcome === 'delivered').map(({ id }) => id);
  const taking = delivered.length > 0 ? [client.query(prepared(takeAway, [delivered]))] : [];
  const settingBack = deliveries.flatMap((delivery) => {
    if (delivery.outcome === 'delivered') return [];
    // PostgreSQL's text cannot hold a NUL, and an error may quote anything.
    const reason = delivery.error.replaceAll('\0', '').slice(0, 1000);
    return [client.query(prepared(SET_BACK, [delivery.id, reason, delivery.outcome, PARKED_AFTER]))];
  });
  return Promise.all([...taking, ...settingBack]);
}
