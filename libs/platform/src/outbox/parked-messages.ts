import type { Transaction } from '#application/transaction-manager';
import type { DataSource } from 'typeorm';
import { inside } from '../postgres/transaction.ts';

export interface OutboxMessageView {
  readonly id: string;
  readonly destination: string;
  readonly event: string;
  readonly aggregateId: string | null;
  readonly body: unknown;
  readonly createdAt: Date;
  /** Null when it is not parked: it waits for its delivery or for its next attempt. */
  readonly parkedAt: Date | null;
  readonly isDue: boolean;
  readonly attempts: number;
  /** The last ten failures, oldest first. */
  readonly failures: readonly { readonly at: string; readonly error: string }[];
}

export interface OutboxCounts {
  readonly waiting: number;
  readonly delayed: number;
  readonly parked: number;
  readonly oldestSeconds: number;
}

const COLUMNS = `id, destination, event, aggregate_id as "aggregateId", body, created_at as "createdAt", parked_at as "parkedAt", attempts,
  available_at <= now() as "isDue",
  case when failures is not null then failures
       when last_error is not null then jsonb_build_array(jsonb_build_object('at', coalesce(parked_at, created_at), 'error', last_error))
       else '[]' end as failures`;

const COUNTS = `
  select count(*) filter (where parked_at is null and available_at <= now())::int as waiting,
         count(*) filter (where parked_at is null and available_at > now())::int as delayed,
         count(*) filter (where parked_at is not null)::int as parked,
         coalesce(extract(epoch from now() - min(created_at) filter (where parked_at is null)), 0)::int as "oldestSeconds"
  from outbox`;

/**
 * Parked messages of the outbox: they failed ten times, can never be delivered, or are too old. An operator retries or drops
 * them.
 */
export class ParkedMessages {
  constructor(private readonly dataSource: DataSource) {}

  /** Newest first. `text` is searched in the whole body; an id or an aggregate id must match it exactly. */
  list(filter: { text?: string; event?: string; before?: string; limit: number }): Promise<OutboxMessageView[]> {
    return this.dataSource.query(
      `select ${COLUMNS} from outbox
       where parked_at is not null and ($1::uuid is null or id < $1) and ($2::text is null or event = $2)
         and ($3::text is null or id::text = lower($3) or lower(aggregate_id) = lower($3) or strpos(lower(body::text), lower($3)) > 0)
       order by id desc limit $4`,
      [filter.before ?? null, filter.event ?? null, filter.text ?? null, filter.limit],
    );
  }

  /** Finds a message, parked or not, so that an operator who has just retried it sees that it waits for delivery. */
  async find(id: string): Promise<OutboxMessageView | undefined> {
    const [row] = await this.dataSource.query<OutboxMessageView[]>(`select ${COLUMNS} from outbox where id = $1`, [id]);
    return row;
  }

  async counts(): Promise<OutboxCounts> {
    const [row] = await this.dataSource.query<OutboxCounts[]>(COUNTS);
    return row ?? { waiting: 0, delayed: 0, parked: 0, oldestSeconds: 0 };
  }

  /** Makes the message due at once with all attempts, even if it is old. False when it is not parked any more. */
  async retry(tx: Transaction, id: string): Promise<boolean> {
    const postgres = inside(tx);
    const [row] = await postgres.rows<{ destination: string }>(
      `update outbox set parked_at = null, attempts = 0, available_at = now(), retried_at = now()
       where id = $1 and parked_at is not null returning destination`,
      [id],
    );
    if (row) postgres.destinations.add(row.destination);
    return row !== undefined;
  }

  /** Deletes the message. False when it is not parked any more, because then the relay may be delivering it. */
  async drop(tx: Transaction, id: string): Promise<boolean> {
    const rows = await inside(tx).rows('delete from outbox where id = $1 and parked_at is not null returning 1', [id]);
    return rows.length > 0;
  }
}
