import type { Ids } from '#application/ids';
import type { Transaction } from '#application/transaction-manager';
import { blacklisted } from '#domain/blacklist/listed-fans';
import { assertHoldersMatch, holdersMatch } from '#domain/purchase/order';
import { assertCheckoutAllowed } from '#domain/purchase/reservation';
import { DomainError } from '#domain/shared/domain-error';
import type { Order, Reservation } from '../../application/ports.ts';
import type { Reservations } from '../../hold/application/reservation-ports.ts';
import { firstOfEach } from './first-of-each.ts';
import type { CompletedOrder, Orders } from './ports.ts';

export interface CheckOutCommand {
  readonly reservationId: string;
  readonly userId: string;
  readonly holders: readonly { seatId: string; name: string }[];
  readonly email: string;
  /** Of the request. Sent again after it broke off, it finds the order it made, and is still what made it. */
  readonly key?: string | undefined;
}

export interface CheckedOut {
  readonly order: Order;
  /** False when a checkout with another key made the order of this reservation. */
  readonly isNew: boolean;
}

/** Holds of many commands, locked together, and what is needed to make orders of them. */
export interface LockedHolds {
  readonly free: ReadonlyMap<string, Reservation>;
  readonly barred: ReadonlySet<string>;
  readonly numbers: readonly string[];
}

/** A checkout that many may share a transaction with, and the order it would make. */
interface PlainCheckOut extends CompletedOrder {
  readonly command: CheckOutCommand;
}

/** Makes orders of holds: which hold may be ordered, and one order a turn. How an order is paid is not asked here. */
export class PlaceOrders {
  constructor(
    private readonly reservations: Reservations,
    private readonly orders: Orders,
    private readonly ids: Ids,
  ) {}

  /** The hold of this command, locked. */
  async lock(tx: Transaction, { reservationId, userId }: CheckOutCommand): Promise<Reservation> {
    const reservation = await this.reservations.lock(tx, reservationId, userId);
    if (!reservation) throw new DomainError('NOT_FOUND', 'There is no such reservation.');
    return reservation;
  }

  /** By every rule; waits for whoever has a row. The hold is locked already. */
  async place(tx: Transaction, command: CheckOutCommand, reservation: Reservation): Promise<CheckedOut> {
    if ((await this.orders.barred(tx, [reservation.userId])).size > 0) throw blacklisted();
    assertCheckoutAllowed(reservation.status);
    const existing = reservation.status === 'ordered' ? await this.orders.lockOfReservation(tx, reservation.id) : undefined;
    if (existing) return { order: existing, isNew: existing.placedWithKey === command.key };
    assertHoldersMatch(seatsOf(reservation), seatsOf({ seats: command.holders }));
    const [number = ''] = await this.orders.nextNumbers(tx, 1);
    const order = this.newOrder(reservation, command, number);
    if ((await this.orders.place(tx, [order])).size === 0) {
      await this.endLapsedOrder(tx, reservation.sessionToken ?? '');
      await this.orders.place(tx, [order]);
    }
    return { order, isNew: true };
  }

  /** Waits for nobody: what somebody else has locked is missing. */
  async lockMany(tx: Transaction, commands: readonly CheckOutCommand[]): Promise<LockedHolds> {
    const [free, barred, numbers] = await Promise.all([
      this.reservations.lockFree(
        tx,
        commands.map(({ reservationId }) => reservationId),
      ),
      this.orders.barred(
        tx,
        commands.map(({ userId }) => userId),
      ),
      // A number more or less: those of orders that do not come to be are missing anyway.
      this.orders.nextNumbers(tx, commands.length),
    ]);
    return { free, barred, numbers };
  }

  /** Plain is a living hold that has no order yet, checked out by its fan with its seats. */
  plainOf(commands: readonly CheckOutCommand[], { free, barred, numbers }: LockedHolds): readonly PlainCheckOut[] {
    const plain = firstOfEach(commands, ({ reservationId }) => reservationId).flatMap((command) => {
      const reservation = free.get(command.reservationId);
      const isPlain =
        reservation?.userId === command.userId &&
        reservation.status === 'held' &&
        !barred.has(command.userId) &&
        holdersMatch(seatsOf(reservation), seatsOf({ seats: command.holders }));
      return isPlain ? [{ command, reservation }] : [];
    });
    return plain.map((one, index) => ({ ...one, order: this.newOrder(one.reservation, one.command, numbers[index] ?? '') }));
  }

  /** Those in a window without an order. */
  async placePlain(tx: Transaction, plain: readonly PlainCheckOut[]): Promise<ReadonlyMap<CheckOutCommand, PlainCheckOut>> {
    if (plain.length === 0) return new Map();
    const placed = await this.orders.place(
      tx,
      plain.map(({ order }) => order),
    );
    return new Map(plain.filter(({ order }) => placed.has(order.id)).map((one) => [one.command, one]));
  }

  /** The window has an order. If its hold is over it only waits for the scheduler, and this fan need not. */
  private async endLapsedOrder(tx: Transaction, sessionToken: string): Promise<void> {
    const rival = await this.orders.inWindow(tx, sessionToken);
    const hold = rival && (await this.reservations.lock(tx, rival.reservationId));
    const order = rival && (await this.orders.lock(tx, rival.id));
    if (hold?.status !== 'expired' || order?.status !== 'awaiting_payment') {
      throw new DomainError('INVALID_STATE', 'One order a turn: another one of this turn is being paid or was paid.', {
        order_id: rival?.id,
      });
    }
    await this.orders.setStatus(tx, [order.id], 'expired', ['expired']);
    await this.orders.giveUpWindow(tx, order);
  }

  private newOrder(reservation: Reservation, command: CheckOutCommand, number: string): Order {
    return {
      id: this.ids.next(),
      number,
      matchId: reservation.matchId,
      reservationId: reservation.id,
      userId: reservation.userId,
      sessionToken: reservation.sessionToken,
      status: 'awaiting_payment',
      totalCents: reservation.totalCents,
      currency: reservation.currency,
      email: command.email,
      holders: command.holders,
      payment: { provider: 'none', intentId: null, clientSecret: null, confirmUrl: null },
      placedWithKey: command.key ?? null,
    };
  }
}

function seatsOf({ seats }: { readonly seats: readonly { readonly seatId: string }[] }): string[] {
  return seats.map(({ seatId }) => seatId);
}
