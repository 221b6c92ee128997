import { TransactionManager, type Transaction } from '#application/transaction-manager';
import { queueKeys } from '#contracts/queue-keys';
import { newId } from '#platform/ids';
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { Reservation } from '../application/ports.ts';
import { MatchesForSale } from '../application/sale-ports.ts';
import { PostgresSeatInventory } from '../availability/outbound/postgres-seat-inventory.ts';
import { OrderConsequences, Orders } from '../checkout/application/ports.ts';
import { SeatHolds, type HoldOutcome, type HoldRequest } from '../hold/application/ports.ts';
import { Reservations } from '../hold/application/reservation-ports.ts';
import { QuotaPlacesApi } from '../quota-places.api.ts';
import { PaymentInbox } from '../settlement/application/ports.ts';
import { StreamCursors, WaitingRoomConsequences, WaitingRoomEvents } from '../turns/application/waiting-room-ports.ts';
import { openBoxOffice, type OpenBoxOffice } from './box-office.ts';
import type { NewHold, PurchaseSetup, TestSector, Turn } from './purchase-setup.ts';

const TEN_MINUTES_MS = 600_000;
const TABLES =
  'matches, match_search, sectors, seats, reservations, fan_seats, orders, order_intents, order_timeline, payment_inbox, purchase_windows, ' +
  'queue_event_cursors, tickets, transfer_offers, outbox, blacklist, idempotency_keys, quotas, quota_moves, quota_move_requests, quota_notices, invitations, invitation_tokens';

/** The adapters of `purchase` as the monolith wires them, on PostgreSQL and Redis. */
export class PostgresPurchase implements PurchaseSetup {
  readonly matches: MatchesForSale;
  readonly sectors: PostgresSeatInventory;
  readonly seatHolds: SeatHolds;
  readonly reservations: Reservations;
  readonly orders: Orders;
  readonly inbox: PaymentInbox;
  readonly consequences: OrderConsequences;
  readonly waitingRoom: WaitingRoomEvents;
  readonly cursors: StreamCursors;
  readonly waitingRoomConsequences: WaitingRoomConsequences;
  readonly places: QuotaPlacesApi;
  /** The transaction manager refuses a transaction inside another one, so each is started outside of all. */
  private readonly outsideTransactions = AsyncLocalStorage.snapshot();

  private constructor(private readonly opened: OpenBoxOffice) {
    const { monolith } = opened.office;
    this.matches = monolith.get(MatchesForSale);
    this.sectors = monolith.get(PostgresSeatInventory);
    this.seatHolds = monolith.get(SeatHolds);
    this.reservations = monolith.get(Reservations);
    this.orders = monolith.get(Orders);
    this.inbox = monolith.get(PaymentInbox);
    this.consequences = monolith.get(OrderConsequences);
    this.waitingRoom = monolith.get(WaitingRoomEvents);
    this.cursors = monolith.get(StreamCursors);
    this.waitingRoomConsequences = monolith.get(WaitingRoomConsequences);
    this.places = monolith.get(QuotaPlacesApi);
  }

  static async open(): Promise<PostgresPurchase> {
    return new PostgresPurchase(await openBoxOffice());
  }

  get monolith(): OpenBoxOffice['office']['monolith'] {
    return this.opened.office.monolith;
  }

  close(): Promise<void> {
    return this.opened.close();
  }

  async play(body: () => Promise<void>): Promise<void> {
    await this.rows(`truncate ${TABLES}`);
    await body();
  }

  inTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.outsideTransactions(() => this.opened.office.monolith.get(TransactionManager).run(work));
  }

  holdWithKey(key: string, request: HoldRequest): Promise<HoldOutcome> {
    return this.seatHolds.hold({ ...request, idempotencyKey: { key, fingerprint: 'f'.repeat(32) } });
  }

  async addMatch(facts: Parameters<PurchaseSetup['addMatch']>[0] = {}): Promise<string> {
    const { saleStatus = 'open', queueRequired = false, maxTicketsPerFan = 4, isCancelled = false } = facts;
    const id = newId();
    await this.rows(
      `insert into matches (id, home, away, venue, kickoff_at, currency, max_tickets_per_fan, queue_required, sale_status, processing_rate, max_open_windows, cancelled_at)
       values ($1, 'Home', 'Away', 'Arena', now() + interval '9 days', 'EUR', $2, $3, $4, 600, 1000, case when $5 then now() end)`,
      [id, maxTicketsPerFan, queueRequired, saleStatus, isCancelled],
    );
    return id;
  }

  async addSector(matchId: string, name: string, rowLengths: readonly number[]): Promise<TestSector> {
    const [id, capacity] = [newId(), rowLengths.reduce((sum, length) => sum + length, 0)];
    await this.rows(
      `insert into sectors (id, match_id, name, kind, price_cents, capacity, position)
       values ($1, $2, $3, 'seated', 2500, $4, (select count(*) from sectors where match_id = $2))`,
      [id, matchId, name, capacity],
    );
    const seats = rowLengths.flatMap((length, rowIndex) =>
      Array.from({ length }, (_, index) => ({ id: newId(), rowIndex, index })),
    );
    for (const { id: seatId, rowIndex, index } of seats.toReversed())
      await this.rows(
        `insert into seats (id, match_id, sector_id, row_label, number, row_index, rank) values ($1, $2, $3, $4, $5, $6, $7)`,
        [seatId, matchId, id, String(rowIndex + 1), index + 1, rowIndex, rowIndex * 100 + index],
      );
    const price = { priceCents: 2500, currency: 'EUR', capacity };
    return { id, matchId, name, kind: 'seated', gate: null, wheelchair: false, ...price, seatIds: seats.map((seat) => seat.id) };
  }

  async addQuota(matchId: string): Promise<string> {
    const id = newId();
    await this.rows(`insert into quotas (id, match_id, depth, name, kind) values ($1, $2, 1, 'Torcida', 'fan_group')`, [
      ...[id, matchId],
    ]);
    return id;
  }

  async addHold({ sector, seats, userId = randomUUID(), sessionToken = null }: NewHold): Promise<Reservation> {
    const [id, seatIds] = [newId(), seats.map((index) => sector.seatIds[index])];
    const expiresAt = new Date(Date.now() + TEN_MINUTES_MS);
    await this.rows(
      `insert into reservations (id, match_id, sector_id, user_id, session_token, status, seat_ids, quantity, sector, price_cents, together,
                                 total_cents, currency, expires_at)
       values ($1, $2, $3, $4, $5, 'held', $6, cardinality($6::uuid[]), $7, $8, true, $8 * cardinality($6::uuid[]), 'EUR', $9)`,
      [id, sector.matchId, sector.id, userId, sessionToken, seatIds, sector.name, sector.priceCents, expiresAt],
    );
    await this.rows(`update seats set status = 'held', reservation_id = $1, expires_at = $3 where id = any($2::uuid[])`, [
      ...[id, seatIds, expiresAt],
    ]);
    await this.rows(
      `insert into fan_seats (match_id, user_id, revision, reservation_ids) values ($1, $2, 1, array[$3::uuid])
       on conflict (user_id, match_id) do update set revision = fan_seats.revision + 1, reservation_ids = fan_seats.reservation_ids || $3::uuid`,
      [sector.matchId, userId, id],
    );
    const stored = await this.reservations.find(id);
    if (!stored) throw new Error('a hold was not stored');
    return stored;
  }

  expire(id: string): Promise<void> {
    return this.opened.office.lapse({ id });
  }

  async lapse(id: string, secondsAgo: { began: number; expired: number }): Promise<void> {
    await this.expire(id);
    await this.rows(
      `update reservations set created_at = now() - make_interval(secs => $2), expires_at = now() - make_interval(secs => $3) where id = $1`,
      [id, secondsAgo.began, secondsAgo.expired],
    );
  }

  async blacklist(userId: string): Promise<void> {
    await this.rows(
      `insert into blacklist (user_id, entry_id, reason, listed_by, listed_at) values ($1, $2, 'touting', $2, now())`,
      [userId, randomUUID()],
    );
  }

  async addDevice(userId: string): Promise<void> {
    const body = { fcm_token: `token-${userId}` };
    await this.opened.office.monolith.call('PUT', '/api/v1/me/devices/phone', { as: userId, body });
  }

  async storeTurn(turn: Turn, { seconds = 600, endReason }: { seconds?: number; endReason?: string } = {}): Promise<void> {
    await this.rows(
      `insert into purchase_windows (session_token, match_id, user_id, expires_at, ended_at, end_reason)
       values ($1, $2, $3, now() + make_interval(secs => $4), case when $5::text is null then null else now() end, $5)`,
      [turn.sessionToken, turn.matchId, turn.userId, seconds, endReason ?? null],
    );
  }

  async grantTurn({ matchId, userId, sessionToken }: Turn): Promise<void> {
    const turn = { session_token: sessionToken, expires_at: new Date(Date.now() + TEN_MINUTES_MS).toISOString() };
    await this.redis.hset(queueKeys.windows(matchId), userId, JSON.stringify(turn));
    await this.addEvent({ event: 'queue.turn_granted', match_id: matchId, user_id: userId, ...turn });
  }

  async endTurn({ matchId, userId, sessionToken }: Turn, reason: string): Promise<void> {
    await this.redis.hdel(queueKeys.windows(matchId), userId);
    await this.addEvent({ event: 'queue.expired', match_id: matchId, user_id: userId, session_token: sessionToken, reason });
  }

  async seat(seatId: string): Promise<{ status: string; reservationId: string | null }> {
    const seat = await this.opened.office.holderOf(seatId);
    if (!seat) throw new Error(`there is no seat ${seatId}`);
    return { status: seat.status, reservationId: seat.reservation_id };
  }

  async place(seatId: string): ReturnType<PurchaseSetup['place']> {
    const sql = `select quota_id as "quotaId", bound_to as "boundTo" from seats where id = $1`;
    const [place] = await this.rows<{ quotaId: string | null; boundTo: string | null }>(sql, [seatId]);
    if (!place) throw new Error(`there is no seat ${seatId}`);
    return place;
  }

  async fan({ matchId, userId }: { matchId: string; userId: string }): ReturnType<PurchaseSetup['fan']> {
    const rows = await this.rows<{ revision: number; reservationIds: string[] }>(
      `select revision, reservation_ids as "reservationIds" from fan_seats where match_id = $1 and user_id = $2`,
      [matchId, userId],
    );
    return rows[0];
  }

  async timeline(orderId: string): Promise<string[]> {
    const rows = await this.rows<{ event: string }>(`select event from order_timeline where order_id = $1 order by id`, [
      orderId,
    ]);
    return rows.map(({ event }) => event);
  }

  tickets(orderId: string): Promise<{ seatId: string; userId: string }[]> {
    return this.rows(
      `select seat_id as "seatId", user_id as "userId" from tickets where order_id = $1 and status = 'valid' order by seat_id`,
      [orderId],
    );
  }

  async turn(sessionToken: string): Promise<{ endReason: string | null } | undefined> {
    const rows = await this.rows<{ endReason: string | null }>(
      `select end_reason as "endReason" from purchase_windows where session_token = $1`,
      [sessionToken],
    );
    return rows[0];
  }

  async messages(aggregateId: string): ReturnType<PurchaseSetup['messages']> {
    const messages = await this.opened.office.outbox(aggregateId);
    return messages
      .filter(({ destination }) => destination === 'payments' || destination === 'events')
      .map(({ destination, event, body }) => ({ event, ...(destination === 'payments' ? { command: body as object } : {}) }));
  }

  async turnPushes({ userId }: Turn): Promise<number> {
    const isPush = `body ->> 'user_id' = $1 and body ->> 'template' = 'queue_your_turn'`;
    return (await this.rows(`select from outbox where ${isPush}`, [userId])).length;
  }

  private get redis(): OpenBoxOffice['office']['monolith']['resources']['redis'] {
    return this.opened.office.monolith.resources.redis;
  }

  private async addEvent(event: { readonly match_id: string } & Record<string, string>): Promise<void> {
    await this.redis.sadd(queueKeys.matches, event.match_id);
    await this.redis.xadd(queueKeys.events(event.match_id), '*', 'event', JSON.stringify(event));
  }

  private rows<T>(sql: string, parameters: readonly unknown[] = []): Promise<T[]> {
    return this.opened.office.rows<T>(sql, parameters);
  }
}
