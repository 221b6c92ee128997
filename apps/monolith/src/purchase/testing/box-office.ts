import { randomUUID } from 'node:crypto';
import { createTestDatabase, createTestRedis } from '#testing/test-database';
import type { TestAnswer } from '../../testing/test-app.ts';
import { openMonolith, type MatchOnSale, type WholeMonolith } from '../../testing/whole-monolith.ts';
import { ReleaseReservation } from '../checkout/application/release-reservation.ts';
import type { PaymentReport } from '../settlement/application/ports.ts';
import { SettlePayment, type SettlementResult } from '../settlement/application/settle-payment.ts';

/** A hold as the API answered it, and its fan. */
export interface HeldSeats {
  readonly id: string;
  readonly userId: string;
  readonly status: string;
  readonly seats: readonly { readonly seat_id: string; readonly row: string | null; readonly number: number | null }[];
  readonly seatIds: readonly string[];
  readonly total_cents: number;
  readonly expires_at: string;
}

/** An order that awaits payment, and its hold. */
export interface Ordered {
  readonly orderId: string;
  readonly intentId: string;
  readonly held: HeldSeats;
}

interface HoldOptions {
  readonly as?: string;
  readonly sector?: number;
  readonly quantity?: number;
  readonly seatIds?: readonly string[];
  readonly turn?: string;
  readonly key?: string;
}

interface OutboxRow {
  readonly destination: string;
  readonly event: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
}

/** Test helper: makes the calls of fans (hold, checkout, release) and the provider's payment reports, and queries the database. */
export class BoxOffice {
  constructor(readonly monolith: WholeMonolith) {}

  hold(match: MatchOnSale, request: HoldOptions = {}): Promise<TestAnswer> {
    const sector_id = match.sectors[request.sector ?? 0]?.id;
    const body = request.seatIds ? { seat_ids: request.seatIds } : { sector_id, quantity: request.quantity ?? 1 };
    const headers: Record<string, string> = request.turn ? { 'x-purchase-session': request.turn } : {};
    const as = request.as ?? randomUUID();
    return this.monolith.call('POST', `/api/v1/matches/${match.id}/reservations`, {
      as,
      body,
      headers,
      ...(request.key ? { key: request.key } : {}),
    });
  }

  /** Like `hold`, but throws if the seats are not held. */
  async held(match: MatchOnSale, request: HoldOptions = {}): Promise<HeldSeats> {
    const userId = request.as ?? randomUUID();
    const { json, text, status } = await this.hold(match, { ...request, as: userId });
    if (status !== 201) throw new Error(`not held: ${text}`);
    return { ...json, userId, seatIds: json.seats.map(({ seat_id }: { seat_id: string }) => seat_id) };
  }

  checkOut(held: HeldSeats, options: { as?: string; holders?: unknown; key?: string } = {}): Promise<TestAnswer> {
    const holders = options.holders ?? held.seatIds.map((seat_id, index) => ({ seat_id, name: `Fan ${index + 1}` }));
    const body = { holders, email: 'ana@example.hr' };
    const { as = held.userId, key } = options;
    return this.monolith.call('POST', `/api/v1/reservations/${held.id}/checkout`, { as, body, ...(key ? { key } : {}) });
  }

  /** Like `checkOut`, but throws if no order is created. */
  async ordered(held: HeldSeats): Promise<Ordered> {
    const { json, text, status } = await this.checkOut(held);
    if (status !== 201) throw new Error(`not ordered: ${text}`);
    return { orderId: json.order_id, intentId: json.payment.intent_id, held };
  }

  /** A payment report of the provider. Without `change`: a new event that says that this order was paid. */
  report(ordered: Ordered, change: Partial<PaymentReport> = {}): PaymentReport {
    return {
      eventId: `evt_${randomUUID()}`,
      type: 'payment_intent.succeeded',
      intentId: ordered.intentId,
      outcome: 'succeeded',
      amountCents: ordered.held.total_cents,
      currency: 'EUR',
      ...change,
    };
  }

  async settle(report: PaymentReport): Promise<SettlementResult> {
    return (await this.monolith.get(SettlePayment).execute(report)).result;
  }

  async release(held: Pick<HeldSeats, 'id' | 'userId'>): Promise<void> {
    await this.monolith.get(ReleaseReservation).execute({ reservationId: held.id, userId: held.userId });
  }

  /** Sets the expiry of a hold to one second ago. */
  async lapse({ id }: Pick<HeldSeats, 'id'>): Promise<void> {
    await this.rows(`update reservations set expires_at = now() - interval '1 second' where id = $1`, [id]);
    await this.rows(`update seats set expires_at = now() - interval '1 second' where reservation_id = $1 and status = 'held'`, [
      id,
    ]);
  }

  /** Sets the seats to `blocked` in the database: not for sale, and not because of a partner's sale. */
  async block(seatIds: readonly string[]): Promise<void> {
    await this.rows(`update seats set status = 'blocked' where id = any($1::uuid[])`, [seatIds]);
  }

  /** The status of the reservation, read over the API. */
  async reservation({ id, userId }: Pick<HeldSeats, 'id' | 'userId'>): Promise<string> {
    return (await this.monolith.call('GET', `/api/v1/reservations/${id}`, { as: userId })).json.status;
  }

  /** The order as the API answers it to its fan. */
  async order({ orderId, held }: Ordered): Promise<TestAnswer['json']> {
    return (await this.monolith.call('GET', `/api/v1/orders/${orderId}`, { as: held.userId })).json;
  }

  async seatIds(match: MatchOnSale, sector = 0): Promise<string[]> {
    const rows = await this.rows<{ id: string }>(`select id from seats where sector_id = $1 order by row_index, number`, [
      match.sectors[sector]?.id,
    ]);
    return rows.map(({ id }) => id);
  }

  /** Stored status → number of seats of the match. The seats of an expired hold count as `held`. */
  async seatRows(match: MatchOnSale): Promise<Record<string, number>> {
    const rows = await this.rows<{ status: string; n: number }>(
      `select status, count(*)::int as n from seats where match_id = $1 group by status`,
      [match.id],
    );
    return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
  }

  async holderOf(seatId: string): Promise<{ status: string; reservation_id: string | null } | undefined> {
    const [seat] = await this.rows<{ status: string; reservation_id: string | null }>(
      `select status, reservation_id from seats where id = $1`,
      [seatId],
    );
    return seat;
  }

  /** The outbox messages with this aggregate id, oldest first. */
  outbox(aggregateId: string): Promise<OutboxRow[]> {
    return this.rows<OutboxRow>(`select destination, event, body from outbox where aggregate_id = $1 order by seq`, [
      aggregateId,
    ]);
  }

  rows<T>(sql: string, parameters: readonly unknown[] = []): Promise<T[]> {
    return this.monolith.dataSource.query<T[]>(sql, [...parameters]);
  }
}

/** A running monolith with its box office; `close` ends it. */
export interface OpenBoxOffice {
  readonly office: BoxOffice;
  readonly settings: { DATABASE_URL: string; REDIS_URL: string };
  close(): Promise<void>;
}

/** Starts a monolith with a PostgreSQL database and a Redis that belong to this test file. */
export async function openBoxOffice(more: Record<string, string> = {}): Promise<OpenBoxOffice> {
  const [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  const settings = { DATABASE_URL: database.url, REDIS_URL: redis.url };
  const monolith = await openMonolith({ ...settings, ...more });
  return {
    office: new BoxOffice(monolith),
    settings,
    async close() {
      await monolith.close();
      await Promise.all([database.close(), redis.close()]);
    },
  };
}
