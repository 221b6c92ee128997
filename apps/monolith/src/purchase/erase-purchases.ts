import type { Ids } from '#application/ids';
import type { Outbox } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import { namedSql } from '#platform/postgres/named-sql';
import { inside } from '#platform/postgres/transaction';
import type { ErasableWithFans, TracesOfFan } from '../fans/kept-about-fans.api.ts';
import { WAITING_ROOM_DESTINATION, type WaitingRoomMessage } from '../waiting-room/waiting-room.api.ts';
import type { ReleaseReservation } from './checkout/application/release-reservation.ts';
import type { ReservationReader } from './hold/application/reservation-reader.ts';

/** Holds that are read at once. */
const PAGE_SIZE = 100;

const AWAITING_PAYMENT = `select from orders where user_id = $1 and status = 'awaiting_payment' limit 1`;

/** Erases the contact data of a fan's orders. An empty address means that the order gets no more mails. */
const ERASE_CONTACT = namedSql<{ readonly userId: string }>(
  'erase-contact-of-orders',
  `
  with mine as (
    select id, email, intent_id from orders where user_id = :userId for no key update
  ), erased as (
    update orders set email = '', holders = '[]', client_secret = null, confirm_url = null where id in (select id from mine)
  ) select id, email, intent_id as "intentId" from mine`,
);

interface ErasedOrder {
  readonly id: string;
  readonly email: string;
  readonly intentId: string | null;
}

/** Erases what purchase has about a fan: releases the holds, takes the fan out of all lines, and erases the contact data of the orders. */
export class ErasePurchases {
  constructor(
    erasable: ErasableWithFans,
    private readonly reservations: ReservationReader,
    private readonly release: ReleaseReservation,
    private readonly outbox: Outbox,
    private readonly ids: Ids,
  ) {
    erasable.add({
      hindrance: async (tx, userId) =>
        (await inside(tx).rows(AWAITING_PAYMENT, [userId])).length > 0
          ? 'An order awaits payment. Pay it, or release its seats, and try again.'
          : undefined,
      end: ({ userId }) => this.releaseHolds(userId),
      erase: (tx, userId) => this.erase(tx, userId),
    });
  }

  private async releaseHolds(userId: string): Promise<void> {
    for (;;) {
      const held = await this.reservations.list({ userId, status: 'held', limit: PAGE_SIZE });
      for (const { id } of held) await this.release.execute({ reservationId: id, userId });
      if (held.length < PAGE_SIZE) return;
    }
  }

  private async erase(tx: Transaction, userId: string): Promise<Partial<TracesOfFan>> {
    const body: WaitingRoomMessage = { kind: 'forget', user_id: userId };
    await this.outbox.append(tx, [{ id: this.ids.next(), destination: WAITING_ROOM_DESTINATION, event: 'fan.erased', body }]);
    const orders = await inside(tx).rows<ErasedOrder>(ERASE_CONTACT.with({ userId }));
    return {
      emails: orders.map(({ email }) => email),
      ids: orders.flatMap(({ id, intentId }) => [id, ...(intentId ? [intentId] : [])]),
    };
  }
}
