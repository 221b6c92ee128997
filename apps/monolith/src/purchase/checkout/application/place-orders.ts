import type { Ids } from '#application/ids';
import type { Origin } from '#application/origin';
import type { Transaction } from '#application/transaction-manager';
import { blacklisted } from '#domain/blacklist/blacklist-rules';
import { assertInvitationsAllowed } from '#domain/catalog/sale';
import { assertHoldersMatch, holdersMatch } from '#domain/purchase/order';
import { assertCheckoutAllowed } from '#domain/purchase/reservation';
import { DomainError } from '#domain/shared/domain-error';
import type { Reservation } from '../../application/ports.ts';
import type { MatchesForSale, Order } from '../../application/sale-ports.ts';
import type { Reservations } from '../../hold/application/reservation-ports.ts';
import { firstOfEachKey } from './first-of-each-key.ts';
import type { CompletedOrder, Orders } from './ports.ts';

/** A fan's request to order the seats of a hold. */
export interface CheckOutCommand {
  readonly reservationId: string;
  readonly userId: string;
  readonly holders: readonly { seatId: string; name: string }[];
  readonly email: string;
  /**
   * Idempotency key of the request. The order stores it: a request repeated after a failure finds its order and is answered 201
   * again.
   */
  readonly key?: string | undefined;
  /** The request itself. */
  readonly origin?: Origin | undefined;
}

/** The result of a checkout. */
export interface CheckedOut {
  readonly order: Order;
  /** False if a checkout with another idempotency key created the order of this reservation. */
  readonly isNew: boolean;
}

/**
 * What a batch of checkouts needs: the locked holds by id, the blacklisted fans among the callers, an order number for each
 * command, and the matches whose invitations can be paid.
 */
type LockedHolds = Awaited<ReturnType<PlaceOrders['lockMany']>>;

/** A checkout that can be decided in a batch, with the order that it creates. `selectSimple` says which checkouts are simple. */
type SimpleCheckOut = CompletedOrder & { readonly command: CheckOutCommand };

/**
 * Creates orders from holds. Checks that the hold may be ordered and that its turn has no other order. The callers handle payment.
 */
export class PlaceOrders {
  constructor(
    private readonly reservations: Reservations,
    private readonly orders: Orders,
    private readonly ids: Ids,
    private readonly matches: Pick<MatchesForSale, 'match'>,
  ) {}

  /** Locks and returns the hold that the command checks out. */
  async lock(tx: Transaction, { reservationId, userId }: CheckOutCommand): Promise<Reservation> {
    const reservation = await this.reservations.lock(tx, reservationId, userId);
    if (!reservation) throw new DomainError('NOT_FOUND', 'There is no such reservation.');
    return reservation;
  }

  /**
   * Creates the order of one checkout, returns the order that exists already, or throws the rule that refuses it. May wait for
   * locks of other transactions. The caller has locked the hold.
   */
  async place(tx: Transaction, command: CheckOutCommand, reservation: Reservation): Promise<CheckedOut> {
    if ((await this.orders.barred(tx, [reservation.userId])).size > 0) throw blacklisted();
    if (reservation.invitationId) assertInvitationsAllowed((await this.matches.match(reservation.matchId, tx))?.saleStatus);
    assertCheckoutAllowed(reservation.status);
    const existing = reservation.status === 'ordered' ? await this.orders.lockOfReservation(tx, reservation.id) : undefined;
    if (existing) return { order: existing, isNew: existing.placedWithKey === command.key };
    assertHoldersMatch(seatsOf(reservation), seatsOf({ seats: command.holders }));
    const [number = ''] = await this.orders.nextNumbers(tx, 1);
    const order = this.newOrder(reservation, command, number);
    if ((await this.orders.place(tx, [order])).size === 0) {
      await this.expireOrderOfTurn(tx, reservation.sessionToken ?? '');
      await this.orders.place(tx, [order]);
    }
    return { order, isNew: true };
  }

  /** Locks the holds of several commands. Does not wait: a hold that another transaction has locked is missing from the result. */
  async lockMany(tx: Transaction, commands: readonly CheckOutCommand[]) {
    const reservationIds = commands.map(({ reservationId }) => reservationId);
    const userIds = commands.map(({ userId }) => userId);
    const [holds, blacklistedUserIds, numbers] = await Promise.all([
      this.reservations.lockSkippingLocked(tx, reservationIds),
      this.orders.barred(tx, userIds),
      // Numbers of commands that create no order are lost. Gaps in the order numbers are allowed.
      this.orders.nextNumbers(tx, commands.length),
    ]);
    return { holds, blacklistedUserIds, numbers, matchesWithInvitations: await this.matchesWithInvitations(tx, holds) };
  }

  /**
   * Selects the checkouts that need no further check: the hold has not expired and has no order yet, its own fan, who is not
   * blacklisted, checks it out, and the holders name exactly its seats. For a hold of an invitation, the sale must not be closed.
   */
  selectSimple(
    commands: readonly CheckOutCommand[],
    { holds, blacklistedUserIds, numbers, matchesWithInvitations }: LockedHolds,
  ): readonly SimpleCheckOut[] {
    return firstOfEachKey(commands, ({ reservationId }) => reservationId).flatMap((command, index) => {
      const reservation = holds.get(command.reservationId);
      const isSimple =
        reservation?.userId === command.userId &&
        reservation.status === 'held' &&
        !blacklistedUserIds.has(command.userId) &&
        (!reservation.invitationId || matchesWithInvitations.has(reservation.matchId)) &&
        holdersMatch(seatsOf(reservation), seatsOf({ seats: command.holders }));
      return isSimple ? [{ command, reservation, order: this.newOrder(reservation, command, numbers[index] ?? '') }] : [];
    });
  }

  /** Places the orders of the checkouts whose turn has no order yet, and returns only these checkouts. */
  async placeSimple(
    tx: Transaction,
    checkOuts: readonly SimpleCheckOut[],
  ): Promise<ReadonlyMap<CheckOutCommand, SimpleCheckOut>> {
    if (checkOuts.length === 0) return new Map();
    const orders = checkOuts.map(({ order }) => order);
    const placedIds = await this.orders.place(tx, orders);
    return new Map(checkOuts.filter(({ order }) => placedIds.has(order.id)).map((checkOut) => [checkOut.command, checkOut]));
  }

  /**
   * Called when the turn has another order. If the hold of that order has expired, ends the order now, so that the fan need not
   * wait for the expiry sweeper. Otherwise refuses the checkout.
   */
  private async expireOrderOfTurn(tx: Transaction, sessionToken: string): Promise<void> {
    const otherOrder = await this.orders.inWindow(tx, sessionToken);
    const hold = otherOrder && (await this.reservations.lock(tx, otherOrder.reservationId));
    const order = otherOrder && (await this.orders.lock(tx, otherOrder.id));
    if (hold?.status !== 'expired' || order?.status !== 'awaiting_payment') {
      const message = 'Only one order for each turn: another order of this turn awaits payment or was paid.';
      throw new DomainError('INVALID_STATE', message, { order_id: otherOrder?.id });
    }
    await this.orders.setStatus(tx, [order.id], 'expired', ['expired']);
    await this.orders.giveUpWindow(tx, order);
  }

  /** The matches of these holds in which the places of invitations can be paid. Reads a match only if a hold needs it. */
  private async matchesWithInvitations(tx: Transaction, holds: ReadonlyMap<string, Reservation>): Promise<ReadonlySet<string>> {
    const claims = [...holds.values()].filter(({ invitationId }) => invitationId !== null);
    const matchIds = [...new Set(claims.map(({ matchId }) => matchId))];
    const matches = await Promise.all(matchIds.map((matchId) => this.matches.match(matchId, tx)));
    return new Set(matches.flatMap((match) => (match && match.saleStatus !== 'closed' ? match.id : [])));
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
      origin: command.origin ?? null,
    };
  }
}

function seatsOf({ seats }: { readonly seats: readonly { readonly seatId: string }[] }): string[] {
  return seats.map(({ seatId }) => seatId);
}
