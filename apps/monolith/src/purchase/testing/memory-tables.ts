import type { SaleStatus } from '#domain/catalog/sale';
import type { UnpaidHold } from '#domain/purchase/hold-cooldown';
import type { OrderStatus } from '#domain/purchase/order';
import type { ReservationStatus } from '#domain/purchase/reservation';
import { Table } from '#testing/simulation/simulated-database';
import type { PaymentCommand } from '../../payment/payment.api.ts';
import type { Order } from '../application/sale-ports.ts';
import type { PlaceOwner } from '../quota-places.api.ts';

// The rows and tables of `purchase` in the simulated database. Times are in milliseconds.

export interface MatchRow {
  readonly id: string;
  readonly saleStatus: SaleStatus;
  readonly queueRequired: boolean;
  readonly maxTicketsPerFan: number;
  /** When an operator cancelled the match. */
  readonly cancelledAt?: Date;
}

export interface SeatRow {
  readonly id: string;
  readonly matchId: string;
  readonly sectorId: string;
  readonly row: string | null;
  readonly number: number | null;
  readonly rowIndex: number;
  readonly rank: number;
  readonly status: 'available' | 'held' | 'sold' | 'blocked';
  readonly reservationId: string | null;
  readonly expiresAtMs: number | null;
  /** The quota that the place belongs to; null for the public. */
  readonly quotaId: PlaceOwner;
  /** The invitation or the pending move that the place is bound to. */
  readonly boundTo: string | null;
}

export interface ReservationRow {
  readonly id: string;
  readonly matchId: string;
  readonly sectorId: string;
  /** Name of the sector. */
  readonly sector: string;
  readonly userId: string;
  readonly sessionToken: string | null;
  /** Set for the claim of an invitation. */
  readonly invitationId: string | null;
  readonly status: ReservationStatus;
  readonly together: boolean;
  readonly seatIds: readonly string[];
  readonly priceCents: number;
  readonly currency: string;
  readonly expiresAtMs: number;
  readonly heldAtMs: number;
  /** When it was paid, released or swept. */
  readonly endedAtMs?: number;
  readonly swept: boolean;
  /** When the fan's unpaid holds were counted for this hold. */
  readonly countedAtMs: number;
  /** Idempotency key of the hold request. Tests check that a key created at most one reservation. */
  readonly heldWithKey: string | null;
}

export interface OrderRow extends Omit<Order, 'status'> {
  readonly status: OrderStatus;
}

/** A move that waits for the approval of a second operator. */
export interface MoveRequest {
  readonly id: string;
  readonly matchId: string;
  readonly from: string;
  readonly to: string;
  readonly seatIds: readonly string[];
  readonly reason: string;
  readonly rule: string;
  readonly actor: string;
  readonly status: 'pending' | 'approved' | 'rejected' | 'expired';
  readonly at: Date;
  readonly expiresAt: Date;
  readonly decidedBy: string | null;
}

/**
 * A fan's seats at a match. `revision` increases whenever the fan gets seats or pays a hold. `reservationIds` lists every
 * reservation whose seats may count against the fan's limit.
 */
export interface FanRow {
  readonly revision: number;
  readonly reservationIds: readonly string[];
  /** Holds that ended unpaid and may count for a cooldown. */
  readonly unpaidIds?: readonly string[];
  /** Only unpaid holds that began at this time or later count. */
  readonly unpaidFromMs?: number | undefined;
}

export interface WindowRow {
  readonly sessionToken: string;
  readonly matchId: string;
  readonly userId: string;
  readonly expiresAtMs: number;
  readonly endReason: string | null;
}

export interface TicketRow {
  readonly id: string;
  readonly matchId: string;
  readonly seatId: string;
  readonly orderId: string;
  readonly userId: string;
}

export interface OutboxRow {
  readonly id: string;
  readonly event: string;
  readonly aggregateId: string;
  readonly payment?: PaymentCommand | undefined;
}

/** The tables of the simulated database, by the names that the test helpers use. */
export const tables = {
  matches: new Table<MatchRow>('matches'),
  seats: new Table<SeatRow>('seats'),
  reservations: new Table<ReservationRow>('reservations'),
  fanSeats: new Table<FanRow>('fan_seats'),
  orders: new Table<OrderRow>('orders'),
  /**
   * The next three are unique indexes: one order for each reservation, one order for each window, one valid ticket for each seat.
   */
  orderOfReservation: new Table<{ readonly orderId: string }>('orders_reservation_id_key'),
  orderOfWindow: new Table<{ readonly orderId: string; readonly reservationId: string }>('orders_one_a_window'),
  ticketOfSeat: new Table<{ readonly ticketId: string }>('tickets_one_a_seat'),
  intents: new Table<{ readonly orderId: string }>('order_intents'),
  timeline: new Table<{ readonly id: string; readonly orderId: string; readonly event: string }>('order_timeline'),
  inbox: new Table<{ readonly eventId: string }>('payment_inbox'),
  windows: new Table<WindowRow>('purchase_windows'),
  tickets: new Table<TicketRow>('tickets'),
  outbox: new Table<OutboxRow>('outbox'),
  delivered: new Table<{ readonly id: string }>('outbox_delivered'),
  blacklist: new Table<{ readonly userId: string }>('blacklist'),
  cursors: new Table<{ readonly lastId: string }>('queue_event_cursors'),
  moveRequests: new Table<MoveRequest>('quota_move_requests'),
} as const;

/** True if the public can hold the seat: it is available, or its hold has expired. */
export const isFree = ({ status, expiresAtMs, quotaId }: SeatRow, now: number): boolean =>
  status === 'available' || (status === 'held' && (expiresAtMs ?? 0) <= now && quotaId === null);

/** True if a fan holds the seat, of the public or of a quota. */
export const isHeld = ({ status, expiresAtMs }: SeatRow, now: number): boolean => status === 'held' && (expiresAtMs ?? 0) > now;

/** True if nobody holds or has bought the place of a quota. It may be bound. */
export const isUnusedInQuota = (seat: SeatRow, now: number): boolean =>
  seat.quotaId !== null && (seat.status === 'blocked' || (seat.status === 'held' && !isHeld(seat, now)));

/** What a seat becomes when its hold ends. */
export const freed = ({ quotaId }: SeatRow): Pick<SeatRow, 'status' | 'reservationId' | 'expiresAtMs'> => ({
  ...{ status: quotaId === null ? 'available' : 'blocked', reservationId: null, expiresAtMs: null },
});

/** Result of `countFan`. */
export interface FanCount {
  readonly taken: number;
  readonly revision: number;
  readonly countedIds: readonly string[];
  readonly unpaid: readonly UnpaidHold[];
  readonly asOfMs: number;
}

/** True if the reservation counts against the fan's limit. */
export const countsAgainstLimit = ({ status, expiresAtMs }: ReservationRow, now: number): boolean =>
  status === 'completed' || ((status === 'held' || status === 'ordered') && expiresAtMs > now);

/**
 * Counts the seats and reads the unpaid holds of a fan at a match. Reads only the reservations that the fan's row lists, like the SQL
 * statement COUNT_FAN_SEATS.
 */
export function countFan(
  fan: FanRow | undefined,
  reservation: (id: string) => ReservationRow | undefined,
  now: number,
): FanCount {
  const listed = [...(fan?.reservationIds ?? []), ...(fan?.unpaidIds ?? [])].flatMap((id) => reservation(id) ?? []);
  const counted = listed.filter((row) => countsAgainstLimit(row, now));
  const taken = counted.reduce((sum, { seatIds }) => sum + seatIds.length, 0);
  const unpaid = listed
    .filter((row) => !countsAgainstLimit(row, now) && row.heldAtMs >= (fan?.unpaidFromMs ?? row.heldAtMs))
    .map((row) => ({ id: row.id, fromMs: row.heldAtMs, toMs: Math.min(row.endedAtMs ?? row.expiresAtMs, row.expiresAtMs) }));
  return { taken, revision: fan?.revision ?? 0, countedIds: counted.map(({ id }) => id), unpaid, asOfMs: now };
}

/** What a paid order changes in its fan's row. */
export const unpaidCountFrom = (now: Date): Pick<FanRow, 'unpaidIds' | 'unpaidFromMs'> => ({
  unpaidIds: [],
  unpaidFromMs: now.getTime(),
});

/** Primary key of a fan's row in `fanSeats`. */
export const fanAtMatch = ({ matchId, userId }: { matchId: string; userId: string }): string => `${userId} ${matchId}`;
