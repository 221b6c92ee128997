import type { Ids } from '#application/ids';
import type { Transaction } from '#application/transaction-manager';
import type { WebhookEventType } from '#contracts/webhook-events';
import { runUnprepared } from '#platform/postgres/database';
import type { PreparedStatement } from '#platform/postgres/named-sql';
import { runReadCommitted } from '#platform/postgres/read-committed';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import * as sql from './webhooks.sql.ts';

export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly events: readonly WebhookEventType[];
  readonly secret: string;
  readonly createdBy: string;
  readonly createdAt: Date;
}

export type CountedWebhook = Webhook & { readonly pending: number; readonly failed: number };

export interface WebhookDelivery {
  readonly id: string;
  readonly eventId: string;
  readonly type: WebhookEventType;
  readonly state: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
  readonly deliveredAt: Date | null;
  readonly body: string;
}

/** An event to plan, with the id that partners recognise it by. */
export interface PlannedEvent {
  readonly id: string;
  readonly type: WebhookEventType;
  readonly subject_id: string;
  readonly created_at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A delivery to send now. */
export interface DueDelivery {
  readonly id: string;
  readonly body: string;
  readonly attempts: number;
  readonly url: string;
  readonly secret: string;
}

interface PageRequest {
  readonly before: string | undefined;
  readonly limit: number;
}

/** The webhooks of partners, and what was or will be sent to them. */
export class PostgresWebhooks {
  constructor(
    private readonly dataSource: DataSource,
    private readonly ids: Ids,
  ) {}

  async add(tx: Transaction, webhook: Pick<Webhook, 'url' | 'events' | 'secret'> & { readonly by: string }): Promise<Webhook> {
    return (await inside(tx).rows<Webhook>(sql.ADD_WEBHOOK.with({ id: this.ids.next(), ...webhook })))[0]!;
  }

  async count(tx: Transaction): Promise<number> {
    return (await inside(tx).rows<{ count: number }>(sql.COUNT_WEBHOOKS))[0]!.count;
  }

  list({ before, limit }: PageRequest): Promise<readonly CountedWebhook[]> {
    return runUnprepared<CountedWebhook[]>(this.dataSource, sql.LIST_WEBHOOKS.with({ before: before ?? null, limit }));
  }

  async find(id: string): Promise<Webhook | undefined> {
    return (await runUnprepared<Webhook[]>(this.dataSource, sql.FIND_WEBHOOK.with({ id })))[0];
  }

  /** Deletes the webhook and gives up what was not sent yet. Undefined if there is none. */
  async delete(tx: Transaction, id: string): Promise<Webhook | undefined> {
    return (await inside(tx).rows<Webhook>(sql.DELETE_WEBHOOK.with({ id })))[0];
  }

  /** The types of event that some webhook wants. */
  async wantedEvents(tx?: Transaction): Promise<ReadonlySet<string>> {
    const rows = tx
      ? await inside(tx).rows<{ type: string }>(sql.WANTED_EVENTS)
      : await this.dataSource.query<{ type: string }[]>(sql.WANTED_EVENTS);
    return new Set(rows.map(({ type }) => type));
  }

  /** Plans a delivery for each webhook that wants an event and is older than it. Returns how many are wanted. */
  async plan(events: readonly PlannedEvent[]): Promise<number> {
    const webhooks = await this.dataSource.query<Pick<Webhook, 'id' | 'events' | 'createdAt'>[]>(sql.WEBHOOKS_FOR);
    const deliveries = events.flatMap(({ id, type, subject_id, created_at, data }) =>
      webhooks
        .filter(({ events: wanted, createdAt }) => wanted.includes(type) && createdAt <= new Date(created_at))
        .map((webhook) => ({
          ...{ id: this.ids.next(), webhookId: webhook.id, eventId: id, type, subjectId: subject_id, createdAt: created_at },
          body: JSON.stringify({ id, type, created_at, data }),
        })),
    );
    if (deliveries.length > 0) await this.write(sql.PLAN_DELIVERIES.with({ deliveries: JSON.stringify(deliveries) }));
    return deliveries.length;
  }

  /** The ids of the webhooks that have something to send now. */
  async withDue(): Promise<readonly string[]> {
    return (await this.dataSource.query<{ id: string }[]>(sql.WEBHOOKS_WITH_DUE)).map(({ id }) => id);
  }

  /** Takes due deliveries, so that no other process sends them for a minute. */
  async claim(webhookId: string, limit: number): Promise<readonly DueDelivery[]> {
    return this.write<DueDelivery>(sql.CLAIM_DELIVERIES.with({ webhookId, limit }));
  }

  async markDelivered(id: string, status: number): Promise<void> {
    await this.write(sql.MARK_DELIVERED.with({ id, status }));
  }

  /** Plans the next attempt, or gives the delivery up: then it returns true. */
  async markNotAccepted(failure: { id: string; status: number | null; error: string; afterSeconds: number }): Promise<boolean> {
    const rows = await this.write<{ state: string }>(sql.MARK_NOT_ACCEPTED.with(failure));
    return rows[0]?.state === 'failed';
  }

  deliveries(
    webhookId: string,
    { state, before, limit }: PageRequest & { readonly state: string | undefined },
  ): Promise<readonly WebhookDelivery[]> {
    const statement = sql.LIST_DELIVERIES.with({ webhookId, state: state ?? null, before: before ?? null, limit });
    return runUnprepared<WebhookDelivery[]>(this.dataSource, statement);
  }

  /** Sends a delivery again at once, for up to 24 hours, whatever became of it. Undefined if the webhook has no such delivery. */
  async sendAgain(tx: Transaction, webhookId: string, id: string): Promise<WebhookDelivery | undefined> {
    return (await inside(tx).rows<WebhookDelivery>(sql.SEND_AGAIN.with({ webhookId, id })))[0];
  }

  /** READ COMMITTED: deliveries are taken and marked one by one, and nothing is decided from several of them. */
  private async write<T>(statement: PreparedStatement): Promise<T[]> {
    return (await runReadCommitted(this.dataSource, (tx) => tx.query<T>(statement))).rows;
  }
}
