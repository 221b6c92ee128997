import type { Transaction } from '#application/transaction-manager';
import { reservationStatusAt, type ReservationStatus } from '#domain/purchase/reservation';
import type { SimulatedDatabase, SimulatedTransaction } from '#testing/simulation/simulated-database';
import { inside } from '#testing/simulation/simulated-transactions';
import type { Reservation } from '../application/ports.ts';
import { Reservations, type ExpiredBatch } from '../hold/application/reservation-ports.ts';
import {
  countFan,
  fanAtMatch,
  freed,
  isFree,
  isHeld,
  isUnusedInQuota,
  tables,
  unpaidCountFrom,
  type FanRow,
  type OrderRow,
  type ReservationRow,
  type SeatRow,
} from './memory-tables.ts';

/** Protections of the real adapter. A negative control switches one off. */
export interface ReservationGuards {
  /** A payment for an expired hold must fit into the fan's limit. */
  readonly latePaymentLimit: boolean;
  /** A payment increases the revision of the fan's row, so that a concurrent hold request counts its seats. */
  readonly singlePaymentCounts: boolean;
  /** A payment that is settled in a batch increases the revision of the fan's row too. */
  readonly batchedPaymentCounts: boolean;
  /** A payment settled in a batch checks that the fan's row still lists its reservation: the fan may have got other seats. */
  readonly batchedPaymentChecksFan: boolean;
  /** The expiry sweeper locks the reservations it ends, and skips locked ones. */
  readonly sweeperLocks: boolean;
  /** The expiry sweeper ends reservations in a second statement, which sees an order that was committed before it got the lock. */
  readonly sweeperReadsAgain: boolean;
  /** A place of a quota whose hold ends goes back to its quota, not to the public. */
  readonly freesInQuota: boolean;
  /** A payment after the end of its claim gets only places that are still bound to the invitation. */
  readonly latePaymentSeesBinding: boolean;
}

/** The holds that can be completed because all of their seats and their fan's row are locked, and these locked rows by id. */
interface CompletableHolds {
  readonly completable: readonly Reservation[];
  readonly free: ReadonlyMap<string, SeatRow>;
  readonly fans: ReadonlyMap<string, FanRow> | undefined;
}

/** Does the same as postgres-reservations.ts, statement by statement, on the simulated database. */
export class MemoryReservations extends Reservations {
  constructor(
    private readonly db: SimulatedDatabase,
    private readonly guards: ReservationGuards = {
      latePaymentLimit: true,
      singlePaymentCounts: true,
      batchedPaymentCounts: true,
      batchedPaymentChecksFan: true,
      sweeperLocks: true,
      sweeperReadsAgain: true,
      freesInQuota: true,
      latePaymentSeesBinding: true,
    },
  ) {
    super();
  }

  async find(reservationId: string): Promise<Reservation | undefined> {
    await this.db.scheduler.step(`reads reservation ${reservationId}`);
    const row = this.db.read(tables.reservations, reservationId);
    return row && asReservation(row, this.db, this.db.scheduler.now());
  }

  async lock(tx: Transaction, reservationId: string, userId?: string): Promise<Reservation | undefined> {
    const open = inside(tx);
    await open.statement(`locks reservation ${reservationId}`);
    const row = open.get(tables.reservations, reservationId) && (await open.lock(tables.reservations, reservationId));
    return !row || (userId !== undefined && row.userId !== userId) ? undefined : asReservation(row, this.db, open.now);
  }

  async lockSkippingLocked(tx: Transaction, reservationIds: readonly string[]): Promise<ReadonlyMap<string, Reservation>> {
    const open = inside(tx);
    await open.statement(`locks reservations ${reservationIds.join(' ') || '(none)'}`);
    const free = await open.lockFree(tables.reservations, reservationIds);
    return new Map([...free].map(([id, row]) => [id, asReservation(row, this.db, open.now)]));
  }

  async setStatus(tx: Transaction, reservationId: string, status: ReservationStatus): Promise<void> {
    await inside(tx).statement(`makes reservation ${reservationId} ${status}`);
    const ended = status === 'held' || status === 'ordered' ? {} : { endedAtMs: inside(tx).now.getTime() };
    await inside(tx).change(tables.reservations, reservationId, { status, ...ended });
    const row = inside(tx).get(tables.reservations, reservationId);
    const fan = row && row.invitationId === null ? inside(tx).get(tables.fanSeats, fanAtMatch(row)) : undefined;
    if (row && fan && status === 'completed' && this.guards.singlePaymentCounts)
      await inside(tx).put(tables.fanSeats, fanAtMatch(row), { ...fan, ...unpaidCountFrom(inside(tx).now) });
  }

  async freeSeats(tx: Transaction, reservationId: string): Promise<void> {
    const open = inside(tx);
    await open.statement(`frees the seats of ${reservationId}`);
    for (const seatId of open.get(tables.reservations, reservationId)?.seatIds ?? []) {
      const seat = open.get(tables.seats, seatId);
      if (seat?.reservationId === reservationId && seat.status === 'held')
        await open.change(tables.seats, seatId, this.freed(seat));
    }
  }

  async sellSeats(tx: Transaction, reservation: Reservation): Promise<boolean> {
    const open = inside(tx);
    await open.statement(`sells the seats of ${reservation.id}`);
    const seatIds = reservation.seats.map(({ seatId }) => seatId).sort();
    const now = open.now.getTime();
    const isSellable = (seat: SeatRow): boolean =>
      reservation.invitationId === null
        ? (seat.status === 'held' && seat.reservationId === reservation.id) || isFree(seat, now)
        : (isHeld(seat, now) && seat.reservationId === reservation.id) ||
          ((seat.boundTo === reservation.invitationId || !this.guards.latePaymentSeesBinding) && isUnusedInQuota(seat, now));
    let areOurs = true;
    for (const seatId of seatIds) {
      const seat = await open.lock(tables.seats, seatId);
      areOurs &&= seat !== undefined && isSellable(seat);
    }
    if (!areOurs) return false;
    await open.statement(`makes them sold`);
    for (const seatId of seatIds)
      await open.change(tables.seats, seatId, { status: 'sold', reservationId: reservation.id, expiresAtMs: null });
    return true;
  }

  async staysCounted(tx: Transaction, reservation: Reservation): Promise<boolean> {
    const open = inside(tx);
    const fan = fanAtMatch(reservation);
    if (!this.guards.singlePaymentCounts || reservation.invitationId !== null) return true;
    await open.statement(`increases the revision of the fan of ${reservation.id}`);
    if (open.get(tables.fanSeats, fan)?.reservationIds.includes(reservation.id) !== true) return false;
    const row = await open.lock(tables.fanSeats, fan);
    if (row) await open.put(tables.fanSeats, fan, { ...row, revision: row.revision + 1 });
    return true;
  }

  async countAgain(tx: Transaction, reservation: Reservation, limit: number): Promise<boolean> {
    if (reservation.invitationId !== null) return true;
    const open = inside(tx);
    await open.statement(`counts the seats of ${reservation.userId} again`);
    const fan = fanAtMatch(reservation);
    const reservationOf = (id: string): ReservationRow | undefined => open.get(tables.reservations, id);
    const { taken, revision, countedIds, unpaid } = countFan(open.get(tables.fanSeats, fan), reservationOf, open.now.getTime());
    if (!this.guards.latePaymentLimit) return true;
    if (taken + reservation.seats.length > limit) return false;
    await open.statement(`increases the revision of ${reservation.userId}`);
    const row = await open.lock(tables.fanSeats, fan);
    if (row && row.revision !== revision) return false;
    const reservationIds = [...countedIds, reservation.id];
    await open.put(tables.fanSeats, fan, {
      revision: (row?.revision ?? 0) + 1,
      reservationIds,
      unpaidIds: unpaid.map((hold) => hold.id).filter((id) => id !== reservation.id),
      unpaidFromMs: row?.unpaidFromMs,
    });
    return true;
  }

  async lockComplete(tx: Transaction, reservations: readonly Reservation[]): Promise<ReadonlySet<string>> {
    if (reservations.length === 0) return new Set();
    await inside(tx).statement(`locks the seats of ${reservations.map(({ id }) => id).join(' ')}`);
    const { completable } = await this.completableOf(tx, reservations);
    return new Set(completable.map(({ id }) => id));
  }

  async complete(tx: Transaction, reservations: readonly Reservation[]): Promise<ReadonlySet<string>> {
    const open = inside(tx);
    await open.statement(`completes ${reservations.map(({ id }) => id).join(' ')}`);
    const { completable, free, fans } = await this.completableOf(tx, reservations);
    const ids = new Set(completable.map(({ id }) => id));
    for (const fan of new Set(completable.filter(({ invitationId }) => invitationId === null).map(fanAtMatch))) {
      const row = fans?.get(fan);
      if (row) await open.put(tables.fanSeats, fan, { ...row, revision: row.revision + 1, ...unpaidCountFrom(open.now) });
    }
    for (const seat of free.values())
      if (ids.has(seat.reservationId ?? '')) await open.change(tables.seats, seat.id, { status: 'sold', expiresAtMs: null });
    for (const id of ids) await open.change(tables.reservations, id, { status: 'completed', endedAtMs: open.now.getTime() });
    return ids;
  }

  /** Locks the seats first, then the fans' rows. Does not wait: skips rows locked by another transaction. */
  private async completableOf(tx: Transaction, reservations: readonly Reservation[]): Promise<CompletableHolds> {
    const open = inside(tx);
    const seatIds = reservations.flatMap(({ seats }) => seats.map(({ seatId }) => seatId));
    const free = await open.lockFree(tables.seats, seatIds, ({ status }) => status === 'held');
    const fans = this.guards.batchedPaymentCounts
      ? await open.lockFree(tables.fanSeats, reservations.map(fanAtMatch))
      : undefined;
    const completable = reservations.filter((reservation) => {
      const own = [...free.values()].filter(({ reservationId }) => reservationId === reservation.id);
      const fan = fans?.get(fanAtMatch(reservation));
      const isCounted =
        !fans ||
        reservation.invitationId !== null ||
        (fan && (fan.reservationIds.includes(reservation.id) || !this.guards.batchedPaymentChecksFan));
      // Like the SQL join: a reservation that is named twice yields each of its seats twice.
      const times = reservations.filter(({ id }) => id === reservation.id).length;
      return isCounted && own.length * times === reservation.seats.length;
    });
    return { completable, free, fans };
  }

  async unpaidInWindows(tx: Transaction, sessionTokens: readonly string[]): Promise<readonly string[]> {
    const open = inside(tx);
    await open.statement(`finds unpaid holds of ${sessionTokens.join(' ')}`);
    const now = open.now.getTime();
    const unpaid = open
      .find(tables.reservations, (row) => row.sessionToken !== null && sessionTokens.includes(row.sessionToken))
      .filter(({ status, expiresAtMs }) => status === 'held' && expiresAtMs > now)
      .map(({ id }) => id)
      .sort();
    for (const id of unpaid) await open.lock(tables.reservations, id);
    return unpaid;
  }

  private freed(seat: SeatRow): Partial<SeatRow> {
    return freed(this.guards.freesInQuota ? seat : { ...seat, quotaId: null });
  }

  /** Two statements at READ COMMITTED: the first locks due reservations, the second ends them. */
  async expireDueReservations(limit: number, after?: ExpiredBatch['next']): Promise<ExpiredBatch> {
    const tx = this.db.begin('read committed');
    try {
      await tx.statement('finds due reservations');
      const due = await this.lockDue(tx, limit, after);
      if (this.guards.sweeperReadsAgain) await tx.nextStatement('reads the locked reservations again');
      let ended = 0;
      for (const row of due) ended += Number(await this.endReservation(tx, row));
      await tx.commit();
      const last = due.length === limit ? due.at(-1) : undefined;
      return { examined: due.length, ended, ...(last ? { next: { id: last.id, expiresAt: String(last.expiresAtMs) } } : {}) };
    } catch (error) {
      tx.rollback();
      throw error;
    }
  }

  private async lockDue(tx: SimulatedTransaction, limit: number, after: ExpiredBatch['next']): Promise<ReservationRow[]> {
    const now = tx.now.getTime();
    const isDue = ({ swept, expiresAtMs }: ReservationRow): boolean => !swept && expiresAtMs <= now;
    const isNext = ({ id, expiresAtMs }: ReservationRow): boolean =>
      !after || expiresAtMs > Number(after.expiresAt) || (expiresAtMs === Number(after.expiresAt) && id > after.id);
    const byTime = (a: ReservationRow, b: ReservationRow): number => a.expiresAtMs - b.expiresAtMs || (a.id < b.id ? -1 : 1);
    const due: ReservationRow[] = [];
    for (const unlocked of tx.find(tables.reservations, (row) => isDue(row) && isNext(row)).sort(byTime)) {
      if (due.length === limit) break;
      await tx.statement(`locks due reservation ${unlocked.id}`);
      const row = this.guards.sweeperLocks ? await tx.lockOrSkip(tables.reservations, unlocked.id) : unlocked;
      if (row && row !== 'locked' && isDue(row)) due.push(row);
    }
    return due;
  }

  /** True if it ended this reservation. A reservation with a locked seat or order is not changed. */
  private async endReservation(tx: SimulatedTransaction, { id, seatIds, status }: ReservationRow): Promise<boolean> {
    await tx.statement(`ends ${id}`);
    const isOver = status === 'held' || status === 'ordered';
    const isOurs = (seat?: SeatRow): boolean => isOver && seat?.reservationId === id && seat.status === 'held';
    const own = seatIds.filter((seatId) => isOurs(tx.get(tables.seats, seatId)));
    const seats = [...(await tx.lockFree(tables.seats, own)).values()].filter(isOurs);
    const isOpen = (row: OrderRow): boolean => isOver && row.reservationId === id && row.status === 'awaiting_payment';
    const open = tx.find(tables.orders, isOpen).map((order) => order.id);
    const orders = [...(await tx.lockFree(tables.orders, open)).values()].filter(isOpen);
    if (seats.length < own.length || orders.length < open.length) return false;
    await tx.change(tables.reservations, id, {
      swept: true,
      ...(isOver ? { status: 'expired', endedAtMs: tx.now.getTime() } : {}),
    });
    for (const seat of seats) await tx.change(tables.seats, seat.id, this.freed(seat));
    for (const order of orders) await this.endOrder(tx, order);
    if (!isOver) return false;
    const message = this.db.scheduler.newId('message');
    await tx.put(tables.outbox, message, { id: message, event: 'reservation.expired', aggregateId: id });
    return true;
  }

  private async endOrder(tx: SimulatedTransaction, { id, sessionToken }: OrderRow): Promise<void> {
    await tx.change(tables.orders, id, { status: 'expired' });
    if (sessionToken && tx.latest(tables.orderOfWindow, sessionToken)?.orderId === id)
      await tx.put(tables.orderOfWindow, sessionToken, undefined);
    const line = this.db.scheduler.newId('line');
    await tx.put(tables.timeline, line, { id: line, orderId: id, event: 'expired' });
  }
}

/** The reservation of a row, at the time `asOf`: a stored status `held` or `ordered` is `expired` from the expiry on. */
export function asReservation(row: ReservationRow, db: SimulatedDatabase, asOf: Date): Reservation {
  const expiresAt = new Date(row.expiresAtMs);
  const seats = row.seatIds.map((seatId) => {
    const seat = db.read(tables.seats, seatId);
    return { seatId, sector: row.sector, row: seat?.row ?? null, number: seat?.number ?? null, priceCents: row.priceCents };
  });
  const { id, matchId, sectorId, userId, sessionToken, invitationId, together, currency } = row;
  const status = reservationStatusAt(row.status, expiresAt, asOf);
  const totalCents = row.priceCents * seats.length;
  return { id, matchId, sectorId, userId, sessionToken, invitationId, status, together, seats, totalCents, currency, expiresAt };
}
