import { countUnpaidHolds } from '#domain/purchase/hold-cooldown';
import {
  countsAgainstLimit,
  fanAtMatch,
  isHeld,
  tables,
  type OrderRow,
  type ReservationRow,
} from '../../apps/monolith/src/purchase/testing/memory-tables.ts';
import { quotaTables } from '../../apps/monolith/src/quota/testing/memory-quota-tables.ts';
import { quotaFaultsAtEnd, quotaFaultsNow } from './quota-invariants.ts';
import type { Cell, SimulatedTransaction } from '#testing/simulation/simulated-database';
import { COOLDOWN, type SimulatedSystem } from './replicas.ts';

/** Checks the invariants that must hold after every commit. Returns the broken ones, numbered as in research/reliability.md §3.2. */
export function faultsNow(system: SimulatedSystem): string[] {
  const { db, capacity } = system;
  const now = system.scheduler.nowMs;
  const reservations = db.rows(tables.reservations);
  const orders = db.rows(tables.orders);
  const living = reservations.filter((row) => countsAgainstLimit(row, now));
  const claimed = living.reduce((sum, { seatIds }) => sum + seatIds.length, 0);
  return [
    ...(claimed > capacity ? [`I2: ${claimed} seats claimed of ${capacity}`] : []),
    ...living.flatMap((row) => lostSeats(system, row)),
    ...overLimit(system, living),
    ...ticketFaults(system, orders, reservations),
    ...windowFaults(system, orders, living),
    ...paymentFaults(orders, living),
    ...seatsWithoutClaim(system, living),
    ...expiryFaults(system, reservations),
    ...keyFaults(reservations),
    ...repeatedMessages(system),
    ...quotaFaultsNow(system),
  ];
}

/**
 * Faults if a living reservation (neither expired nor released) has lost a seat. If none has, no two living reservations share a
 * seat.
 */
function lostSeats(system: SimulatedSystem, { id, status, seatIds, expiresAtMs }: ReservationRow): string[] {
  return seatIds.flatMap((seatId) => {
    const seat = system.db.read(tables.seats, seatId);
    const isOwn = seat?.reservationId === id && seat.status === (status === 'completed' ? 'sold' : 'held');
    if (!isOwn)
      return [`I1: ${status} ${id} has lost seat ${seatId} to ${seat?.reservationId ?? 'no reservation'} (${seat?.status})`];
    return status !== 'completed' && seat.expiresAtMs !== expiresAtMs ? [`I2: ${seatId} has another expiry than ${id}`] : [];
  });
}

function overLimit(system: SimulatedSystem, living: readonly ReservationRow[]): string[] {
  const limit = system.match.maxTicketsPerFan;
  const perFan = new Map<string, number>();
  for (const row of living.filter(({ invitationId }) => invitationId === null))
    perFan.set(fanAtMatch(row), (perFan.get(fanAtMatch(row)) ?? 0) + row.seatIds.length);
  return [...perFan].filter(([, n]) => n > limit).map(([fan, n]) => `I2: ${fan} has ${n} seats, the limit is ${limit}`);
}

function ticketFaults(system: SimulatedSystem, orders: readonly OrderRow[], reservations: readonly ReservationRow[]): string[] {
  const tickets = system.db.rows(tables.tickets);
  const perSeat = new Set(tickets.map(({ seatId }) => seatId));
  const faults = perSeat.size < tickets.length ? ['I1: a seat has two tickets'] : [];
  for (const order of orders) {
    const reservation = reservations.find(({ id }) => id === order.reservationId);
    const ticketSeats = tickets.filter(({ orderId }) => orderId === order.id).map(({ seatId }) => seatId);
    const expectedSeats = order.status === 'completed' ? (reservation?.seatIds ?? []) : [];
    if ([...ticketSeats].sort().join() !== [...expectedSeats].sort().join())
      faults.push(`I3: order ${order.id} is ${order.status} and has tickets for ${ticketSeats.join(' ') || 'nothing'}`);
    if ((order.status === 'completed') !== (reservation?.status === 'completed'))
      faults.push(`I3: order ${order.id} is ${order.status}, its reservation ${reservation?.status}`);
  }
  return faults;
}

/** Faults if a held or sold seat does not belong to a living reservation that lists it. */
function seatsWithoutClaim(system: SimulatedSystem, living: readonly ReservationRow[]): string[] {
  const taken = system.db.rows(tables.seats, (seat) => seat.status === 'sold' || isHeld(seat, system.scheduler.nowMs));
  return taken
    .filter(({ id, reservationId }) => !living.some((row) => row.id === reservationId && row.seatIds.includes(id)))
    .map(({ id, status, reservationId }) => `I2: seat ${id} is ${status} by ${reservationId}, which has no claim to it`);
}

/** Faults if a reservation with the status `ordered` has no order that awaits payment: its seats would be blocked without a payment. */
function paymentFaults(orders: readonly OrderRow[], living: readonly ReservationRow[]): string[] {
  return living
    .filter(({ status }) => status === 'ordered')
    .map(({ id }) => ({ id, order: orders.find(({ reservationId }) => reservationId === id)?.status }))
    .filter(({ order }) => order !== 'awaiting_payment')
    .map(({ id, order }) => `I3: ${id} is ordered, its order ${order ?? 'does not exist'}`);
}

/** Fault W9: a commit completes an order after the sale was closed, although the seats of the order were no longer held. */
export function lateCompletionInClosedSale(
  system: SimulatedSystem,
  { footprint, snapshot, now }: SimulatedTransaction,
): string[] {
  const changes = [...footprint.writes].filter(([cell]) => cell.table === tables.reservations.name);
  const lateChanges = changes.filter(([, { before, after }]) => {
    const [was, is] = [before as ReservationRow | undefined, after as ReservationRow | undefined];
    // A free order is completed in its checkout, so its reservation was `held` before.
    const costsNothing = was?.status === 'held' && was.priceCents === 0;
    const wasAlive = (was?.status === 'ordered' || costsNothing) && was.expiresAtMs > now.getTime();
    return is?.status === 'completed' && was?.status !== 'completed' && !wasAlive;
  });
  return system.closedAtSeq <= snapshot && lateChanges.length > 0
    ? ['W9: a late payment was completed after the sale was closed']
    : [];
}

/**
 * Faults if this commit makes a hold in a cooldown of its fan. The cooldown is found from all reservations of the fan, not from what the
 * fan's row lists.
 */
export function holdsInCooldown({ db }: SimulatedSystem, { footprint }: SimulatedTransaction): string[] {
  const made = [...footprint.writes].flatMap(([cell, { before, after }]) =>
    cell.table === tables.reservations.name && !before ? [after as ReservationRow] : [],
  );
  return made.flatMap(({ id, userId, invitationId, countedAtMs }) => {
    const isEarlier = (row: ReservationRow): boolean => row.id !== id && row.heldAtMs <= countedAtMs;
    const earlier = db.rows(tables.reservations, (row) => row.userId === userId && row.invitationId === null && isEarlier(row));
    const paid = earlier.filter(({ status }) => status === 'completed').map(({ endedAtMs = 0 }) => endedAtMs);
    const unpaid = earlier
      .filter(({ status, heldAtMs }) => status !== 'completed' && heldAtMs >= Math.max(0, ...paid))
      .map((row) => ({ id: row.id, fromMs: row.heldAtMs, toMs: Math.min(row.endedAtMs ?? row.expiresAtMs, row.expiresAtMs) }))
      .filter(({ toMs }) => toMs <= countedAtMs);
    const { cooldownEndsAtMs = 0 } = countUnpaidHolds(unpaid, COOLDOWN, countedAtMs);
    return invitationId === null && cooldownEndsAtMs > countedAtMs ? [`C: ${id} was held in a cooldown of ${userId}`] : [];
  });
}

const LOCKED_FIRST = new Set([tables.reservations, tables.orders, tables.seats, tables.fanSeats].map(({ name }) => name));

/**
 * Faults if a shared transaction (one for a whole batch) waits for a row lock before its first write. Until then it must take only unlocked
 * rows.
 */
export function forbiddenWaits({ isShared, footprint, id }: SimulatedTransaction, cell: Cell): string[] {
  const isFault = isShared && footprint.writes.size === 0 && LOCKED_FIRST.has(cell.table);
  return isFault ? [`W: ${id} is a shared transaction and waits for ${cell.table} ${cell.id}`] : [];
}

function windowFaults(system: SimulatedSystem, orders: readonly OrderRow[], living: readonly ReservationRow[]): string[] {
  const claims = orders.filter(
    ({ sessionToken, status }) => sessionToken && (status === 'awaiting_payment' || status === 'completed'),
  );
  const windows = new Set(claims.map(({ sessionToken }) => sessionToken));
  const paid = claims.filter(({ status }) => status === 'completed').map(({ sessionToken }) => sessionToken);
  const leftOver = living.filter(({ status, sessionToken }) => status === 'held' && paid.includes(sessionToken));
  const windowOwners = orders.filter(
    ({ id, sessionToken }) => system.db.read(tables.orderOfWindow, sessionToken ?? '')?.orderId === id,
  );
  return [
    ...windowOwners
      .filter(({ status }) => status !== 'awaiting_payment' && status !== 'completed')
      .map(({ id, status, sessionToken }) => `I12: ${sessionToken} is blocked by ${id}, which is ${status}`),
    ...(windows.size < claims.length ? ['I11: two orders of one window are paid or being paid'] : []),
    ...leftOver.map(({ id, sessionToken }) => `I11: ${id} is held in ${sessionToken}, whose order is completed`),
  ];
}

function expiryFaults(system: SimulatedSystem, reservations: readonly ReservationRow[]): string[] {
  const expiredIds = system.db
    .rows(tables.outbox, ({ event }) => event === 'reservation.expired')
    .map(({ aggregateId }) => aggregateId);
  const faults = new Set(expiredIds).size < expiredIds.length ? ['I6: reservation.expired twice for one reservation'] : [];
  for (const { id, status, invitationId } of reservations) {
    // The hold of a withdrawn invitation ends at once, without the message of the expiry sweeper.
    const isWithdrawn = system.db.read(quotaTables.invitations, invitationId ?? '')?.status === 'withdrawn';
    if (status === 'expired' && !isWithdrawn && !expiredIds.includes(id)) faults.push(`I6: ${id} expired without a message`);
    if (status !== 'expired' && status !== 'completed' && expiredIds.includes(id))
      faults.push(`I6: ${id} is ${status}, but a message says that it expired`);
  }
  return faults;
}

function keyFaults(reservations: readonly ReservationRow[]): string[] {
  const keys = reservations.flatMap(({ heldWithKey }) => heldWithKey ?? []);
  return new Set(keys).size < keys.length ? ['I5: one key made two reservations'] : [];
}

/**
 * Faults if messages or entries exist twice: the refund of an order, the push of a turn, or a payment event's entry in the timeline
 * of its order.
 */
function repeatedMessages(system: SimulatedSystem): string[] {
  const messages = system.db
    .rows(tables.outbox, ({ event, payment }) => event === 'queue.turn_granted' || payment?.kind === 'refund')
    .map(({ event, aggregateId }) => `${event} of ${aggregateId}`);
  const lines = system.db
    .rows(tables.timeline, ({ event }) => event === 'completed' || event === 'refunded' || event === 'expired')
    .map(({ event, orderId }) => `${event} of ${orderId}`);
  for (const [orderId, times] of system.refusedCards) {
    const noted = system.db.rows(tables.timeline, (line) => line.orderId === orderId && line.event === 'payment_failed').length;
    if (noted > times) return [`I6: ${times} card(s) were refused for ${orderId}, but ${noted} are noted`];
  }
  const all = [...messages, ...lines];
  return new Set(all).size < all.length
    ? [`I6: twice: ${all.filter((text, index) => all.indexOf(text) < index).join(', ')}`]
    : [];
}

/** Checks the invariants at the end, when all fans are done and all holds have expired: no money without seats, nothing unfinished. */
export function faultsAtEnd(system: SimulatedSystem): string[] {
  const { db } = system;
  const orders = db.rows(tables.orders);
  const stuck = [
    ...db.rows(tables.seats, ({ status }) => status === 'held').map(({ id }) => `I12: seat ${id} is still held`),
    ...db
      .rows(tables.reservations, ({ status }) => status === 'held' || status === 'ordered')
      .map(({ id, status }) => `I12: reservation ${id} is still ${status}`),
    ...orders.filter(({ status }) => status === 'awaiting_payment').map(({ id }) => `I12: order ${id} still awaits its payment`),
    ...db
      .rows(tables.seats, ({ status }) => status === 'sold')
      .filter(({ id }) => db.read(tables.ticketOfSeat, id) === undefined)
      .map(({ id }) => `I3: seat ${id} is sold without a ticket`),
  ];
  return [...stuck, ...moneyFaults(system, orders), ...quotaFaultsAtEnd(system)];
}

function moneyFaults(system: SimulatedSystem, orders: readonly OrderRow[]): string[] {
  const faults: string[] = [];
  for (const { intentId, orderId, status, captured, refunds } of system.payments.intents.values()) {
    const order = orders.find(({ id }) => id === orderId);
    const refunded = [...refunds.values()].reduce((sum, cents) => sum + cents, 0);
    const isSold = order?.status === 'completed';
    if (isSold && (captured?.amountCents !== order.totalCents || captured.currency !== order.currency))
      faults.push(`I4: order ${orderId} is completed, but ${intentId} captured ${captured?.amountCents ?? 'nothing'}`);
    const refundDue = isSold ? 0 : (captured?.amountCents ?? 0);
    if (order?.status === 'cancelled' && status === 'open' && system.intentsKnownToFans.has(intentId))
      faults.push(`I4: order ${orderId} is cancelled, and ${intentId} can still be paid`);
    if (!order && system.intentsKnownToFans.has(intentId))
      faults.push(`I4: a fan knows ${intentId}, but its order does not exist`);
    if (refunded !== refundDue)
      faults.push(
        `I4: ${intentId} captured ${captured?.amountCents ?? 0} and refunded ${refunded}; its order is ${order?.status}`,
      );
  }
  return faults;
}
