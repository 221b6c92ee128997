import { runUnprepared } from '#platform/postgres/database';
import { namedSql } from '#platform/postgres/named-sql';
import type { DataSource } from 'typeorm';
import { inPages, type KeptAboutFans } from '../fans/kept-about-fans.api.ts';
import type { TicketingApi } from '../ticketing/ticketing.api.ts';
import type { OrderDetails, PurchaseReader } from './checkout/application/purchase-reader.ts';
import { orderView } from './checkout/inbound/order-view.ts';
import type { ReservationReader } from './hold/application/reservation-reader.ts';
import { reservationView } from './hold/inbound/reservation-view.ts';
import { turnsOfFan } from './turns-of-fan.api.ts';

interface TurnRow {
  readonly match_id: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly ended_at: Date | null;
  readonly end_reason: string | null;
}

const TURNS_OF_FAN = namedSql<{ readonly userId: string }>(
  'turns-of-fan',
  `${turnsOfFan('w.match_id, w.created_at, w.expires_at, w.ended_at, w.end_reason')} order by turn.created_at`,
);

/** Adds a fan's reservations, orders and turns to the export of the fan. */
export class KeptPurchases {
  constructor(
    kept: KeptAboutFans,
    private readonly orders: PurchaseReader,
    private readonly reservations: ReservationReader,
    private readonly ticketing: TicketingApi,
    private readonly dataSource: DataSource,
  ) {
    kept.add('reservations', ({ userId }) =>
      inPages(
        (before, limit) => this.reservations.list({ userId, before, limit }),
        (rows) => rows.map(reservationView),
      ),
    );
    kept.add('orders', ({ userId }) => this.ordersOf(userId));
    kept.add('turns', ({ userId }) => this.turnsOf(userId));
  }

  private ordersOf(userId: string) {
    return inPages(
      async (before, limit) => {
        const found = await this.orders.orders(userId, before, limit);
        return found.map((details) => ({ id: details.order.id, details }));
      },
      async (rows) => {
        const tickets = await this.ticketing.ofOrders(rows.map(({ id }) => id));
        return rows.map(({ id, details }) => ({ ...orderView(details, tickets.get(id) ?? []), ...enteredAtCheckout(details) }));
      },
    );
  }

  /** A fan has a few turns for each match, so this is one page. */
  private async *turnsOf(userId: string) {
    const rows = await runUnprepared<TurnRow[]>(this.dataSource, TURNS_OF_FAN.with({ userId }));
    yield rows.map((row) => ({
      ...row,
      created_at: row.created_at.toISOString(),
      expires_at: row.expires_at.toISOString(),
      ended_at: row.ended_at?.toISOString() ?? null,
    }));
  }
}

/** What only the export has of an order: the personal data of the checkout. */
const enteredAtCheckout = ({ order: { email, holders, payment } }: OrderDetails) => ({
  email,
  holders: holders.map(({ seatId, name }) => ({ seat_id: seatId, name })),
  payment: { provider: payment.provider, intent_id: payment.intentId },
});
