import type { Transaction } from '#application/transaction-manager';
import { cooldownRules } from '#domain/purchase/hold-cooldown';
import { Scheduler } from '#testing/simulation/scheduler';
import { SimulatedDatabase } from '#testing/simulation/simulated-database';
import { SimulatedTransactions } from '#testing/simulation/simulated-transactions';
import type { Reservation } from '../application/ports.ts';
import type { HoldOutcome, HoldRequest } from '../hold/application/ports.ts';
import { ClaimPlaces } from '../quota-places/claim-places.ts';
import { MemoryMatches, MemorySectorReader } from './memory-catalog.ts';
import { MemoryInvitedPlaces } from './memory-invited-places.ts';
import { MemoryOrders, MemoryPaymentInbox } from './memory-orders.ts';
import { MemoryOrderConsequences, MemoryPayments } from './memory-payments.ts';
import { MemoryQuotaPlaces } from './memory-quota-places.ts';
import { asReservation, MemoryReservations } from './memory-reservations.ts';
import { ALL_HOLD_GUARDS, MemorySeatHolds } from './memory-seat-holds.ts';
import { fanAtMatch, tables, type ReservationRow, type SeatRow } from './memory-tables.ts';
import { MemoryStreamCursors, MemoryWaitingRoom, MemoryWaitingRoomConsequences } from './memory-waiting-room.ts';
import type { NewHold, PurchaseSetup, TestSector, Turn } from './purchase-setup.ts';

/** Duration of holds and turns, in simulated time. */
const TEN_MINUTES_MS = 600_000;

/** The fakes of `purchase` on one simulated database. Each test needs a new one. */
export class SimulatedPurchase implements PurchaseSetup {
  private readonly scheduler = new Scheduler(1);
  readonly db = new SimulatedDatabase(this.scheduler, {
    locks: true,
    serializable: true,
    skipsLocked: true,
    spuriousFailures: 0,
  });
  private readonly transactions = new SimulatedTransactions(this.db);
  private readonly testSectors: TestSector[] = [];
  /** How many of the next payment intents the provider refuses. */
  refusesPayments = 0;
  readonly payments = new MemoryPayments(this.db, this.transactions, () => {
    this.refusesPayments -= 1;
    return this.refusesPayments >= 0;
  });
  readonly matches = new MemoryMatches(this.db, this.testSectors);
  readonly sectors = new MemorySectorReader(this.db);
  readonly waitingRoom = new MemoryWaitingRoom(this.db);
  readonly seatHolds = new MemorySeatHolds(
    this.db,
    this.transactions,
    this.waitingRoom,
    TEN_MINUTES_MS,
    ALL_HOLD_GUARDS,
    cooldownRules({ after: 3, holdSeconds: 600, cooldownSeconds: 600 }),
  );
  readonly reservations = new MemoryReservations(this.db);
  readonly orders = new MemoryOrders(this.db);
  readonly inbox = new MemoryPaymentInbox();
  readonly consequences = new MemoryOrderConsequences(this.db);
  readonly cursors = new MemoryStreamCursors(this.db);
  readonly waitingRoomConsequences = new MemoryWaitingRoomConsequences(this.db);
  readonly places = new MemoryQuotaPlaces(
    this.db,
    new ClaimPlaces(
      new MemoryInvitedPlaces(this.db, TEN_MINUTES_MS),
      this.reservations,
      this.orders,
      this.consequences,
      this.matches,
      { next: () => this.scheduler.newId('claim') },
    ),
  );

  constructor() {
    this.scheduler.clockRate = 0;
  }

  async play(body: () => Promise<void>): Promise<void> {
    const task = this.scheduler.spawn('test', undefined, body);
    await this.scheduler.run();
    if (task.state !== 'done') throw task.error;
  }

  async inTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const tx = this.db.begin();
    try {
      const result = await work(tx);
      await tx.commit();
      return result;
    } catch (error) {
      tx.rollback();
      throw error;
    }
  }

  holdWithKey(key: string, request: HoldRequest): Promise<HoldOutcome> {
    const current = { key, userId: request.userId, render: () => 'answer' };
    return this.transactions.under(current, () => this.seatHolds.hold(request));
  }

  addMatch({ isCancelled = false, ...facts }: Parameters<PurchaseSetup['addMatch']>[0] = {}): Promise<string> {
    const id = this.scheduler.newId('match');
    const cancelled = isCancelled ? { cancelledAt: this.scheduler.now() } : {};
    this.db.seed(tables.matches, id, {
      id,
      saleStatus: 'open',
      queueRequired: false,
      maxTicketsPerFan: 4,
      ...facts,
      ...cancelled,
    });
    return Promise.resolve(id);
  }

  addSector(matchId: string, name: string, rowLengths: readonly number[]): Promise<TestSector> {
    const sectorId = this.scheduler.newId('sector');
    const seats = rowLengths.flatMap((length, rowIndex) =>
      Array.from({ length }, (_, index): SeatRow => {
        const place = { row: String(rowIndex + 1), number: index + 1, rowIndex, rank: rowIndex * 100 + index };
        const owner = { status: 'available', reservationId: null, expiresAtMs: null, quotaId: null, boundTo: null } as const;
        return { id: this.scheduler.newId('seat'), matchId, sectorId, ...place, ...owner };
      }),
    );
    for (const seat of seats.toReversed()) this.db.seed(tables.seats, seat.id, seat);
    const price = { priceCents: 2500, currency: 'EUR', capacity: seats.length };
    const sector = {
      id: sectorId,
      matchId,
      name,
      kind: 'seated' as const,
      gate: null,
      wheelchair: false,
      ...price,
      seatIds: seats.map(({ id }) => id),
    };
    this.testSectors.push(sector);
    return Promise.resolve(sector);
  }

  addQuota(): Promise<string> {
    return Promise.resolve(this.scheduler.newId('quota'));
  }

  addHold({ sector, seats, userId = this.scheduler.newId('fan'), sessionToken = null }: NewHold): Promise<Reservation> {
    const id = this.scheduler.newId('hold');
    const { matchId, id: sectorId, name, priceCents, currency } = sector;
    const seatIds = seats.map((index) => sector.seatIds[index] ?? '');
    const expiresAtMs = this.scheduler.nowMs + TEN_MINUTES_MS;
    const row: ReservationRow = {
      ...{
        id,
        matchId,
        sectorId,
        sector: name,
        userId,
        sessionToken,
        invitationId: null,
        status: 'held',
        together: true,
        seatIds,
      },
      ...{
        priceCents,
        currency,
        expiresAtMs,
        heldAtMs: this.scheduler.nowMs,
        countedAtMs: this.scheduler.nowMs,
        swept: false,
        heldWithKey: null,
      },
    };
    this.db.seed(tables.reservations, id, row);
    for (const seatId of seatIds) this.change(tables.seats, seatId, { status: 'held', reservationId: id, expiresAtMs });
    const fan = this.db.read(tables.fanSeats, fanAtMatch(row));
    const reservationIds = [...(fan?.reservationIds ?? []), id];
    this.db.seed(tables.fanSeats, fanAtMatch(row), { ...fan, revision: (fan?.revision ?? 0) + 1, reservationIds });
    return Promise.resolve(asReservation(row, this.db, this.scheduler.now()));
  }

  expire(reservationId: string): Promise<void> {
    const expiresAtMs = this.scheduler.nowMs - 1000;
    this.change(tables.reservations, reservationId, { expiresAtMs });
    for (const { id } of this.db.rows(tables.seats, (row) => row.reservationId === reservationId && row.status === 'held'))
      this.change(tables.seats, id, { expiresAtMs });
    return Promise.resolve();
  }

  async lapse(reservationId: string, secondsAgo: { began: number; expired: number }): Promise<void> {
    await this.expire(reservationId);
    const { nowMs } = this.scheduler;
    const expiresAtMs = nowMs - secondsAgo.expired * 1000;
    this.change(tables.reservations, reservationId, { heldAtMs: nowMs - secondsAgo.began * 1000, expiresAtMs });
  }

  blacklist(userId: string): Promise<void> {
    return Promise.resolve(this.db.seed(tables.blacklist, userId, { userId }));
  }

  /** In the simulation each fan has a device. */
  addDevice(): Promise<void> {
    return Promise.resolve();
  }

  storeTurn(turn: Turn, { seconds = 600, endReason }: { seconds?: number; endReason?: string } = {}): Promise<void> {
    const expiresAtMs = this.scheduler.nowMs + seconds * 1000;
    this.db.seed(tables.windows, turn.sessionToken, { ...turn, expiresAtMs, endReason: endReason ?? null });
    return Promise.resolve();
  }

  grantTurn(turn: Turn): Promise<void> {
    return Promise.resolve(this.waitingRoom.grant({ ...turn, expiresAtMs: this.scheduler.nowMs + TEN_MINUTES_MS }));
  }

  endTurn(turn: Turn, reason: string): Promise<void> {
    return Promise.resolve(this.waitingRoom.end({ ...turn, reason }));
  }

  seat(seatId: string): Promise<{ status: string; reservationId: string | null }> {
    const seat = this.db.read(tables.seats, seatId);
    if (!seat) throw new Error(`there is no seat ${seatId}`);
    return Promise.resolve({ status: seat.status, reservationId: seat.reservationId });
  }

  place(seatId: string): ReturnType<PurchaseSetup['place']> {
    const seat = this.db.read(tables.seats, seatId);
    if (!seat) throw new Error(`there is no seat ${seatId}`);
    return Promise.resolve({ quotaId: seat.quotaId, boundTo: seat.boundTo });
  }

  fan(fan: { matchId: string; userId: string }): ReturnType<PurchaseSetup['fan']> {
    const row = this.db.read(tables.fanSeats, fanAtMatch(fan));
    return Promise.resolve(row && { revision: row.revision, reservationIds: row.reservationIds });
  }

  timeline(orderId: string): Promise<string[]> {
    return Promise.resolve(this.db.rows(tables.timeline, (line) => line.orderId === orderId).map(({ event }) => event));
  }

  tickets(orderId: string): Promise<{ seatId: string; userId: string }[]> {
    const tickets = this.db.rows(tables.tickets, (ticket) => ticket.orderId === orderId);
    return Promise.resolve(
      tickets.map(({ seatId, userId }) => ({ seatId, userId })).sort((a, b) => (a.seatId < b.seatId ? -1 : 1)),
    );
  }

  turn(sessionToken: string): Promise<{ endReason: string | null } | undefined> {
    const row = this.db.read(tables.windows, sessionToken);
    return Promise.resolve(row && { endReason: row.endReason });
  }

  messages(aggregateId: string): ReturnType<PurchaseSetup['messages']> {
    const rows = this.db.rows(tables.outbox, (row) => row.aggregateId === aggregateId);
    return Promise.resolve(rows.map(({ event, payment }) => ({ event, ...(payment ? { command: payment } : {}) })));
  }

  turnPushes({ sessionToken }: Turn): Promise<number> {
    const isPush = { event: 'queue.turn_granted', aggregateId: sessionToken };
    return Promise.resolve(
      this.db.rows(tables.outbox, ({ event, aggregateId }) => event === isPush.event && aggregateId === isPush.aggregateId)
        .length,
    );
  }

  private change<R extends object>(
    table: Parameters<SimulatedDatabase['seed']>[0] & { shape: R },
    id: string,
    change: Partial<R>,
  ): void {
    const row = this.db.read(table, id);
    if (!row) throw new Error(`there is no ${id} in ${table.name}`);
    this.db.seed(table, id, { ...row, ...change });
  }
}
