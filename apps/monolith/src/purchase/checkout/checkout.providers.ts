import { Ids } from '#application/ids';
import { TransactionManager } from '#application/transaction-manager';
import { ReplicaReads } from '#platform/postgres/replica-reads';
import { adapter, useCase } from '#platform/use-case';
import type { Provider } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { BlacklistApi } from '../../blacklist/blacklist.api.ts';
import { PaymentApi } from '../../payment/payment.api.ts';
import { MatchesForSale } from '../application/sale-ports.ts';
import { Reservations } from '../hold/application/reservation-ports.ts';
import { CheckOut } from './application/check-out.ts';
import { PlaceOrders } from './application/place-orders.ts';
import { OrderConsequences, Orders } from './application/ports.ts';
import { TicketingApi } from '../../ticketing/ticketing.api.ts';
import { PurchaseReader } from './application/purchase-reader.ts';
import { ReleaseReservation } from './application/release-reservation.ts';
import { CheckoutController } from './inbound/checkout.controller.ts';
import { OrdersController } from './inbound/orders.controller.ts';
import { PostgresOrders } from './outbound/postgres-orders.ts';
import { PostgresPurchaseReader } from './outbound/postgres-purchase-reader.ts';

export const checkoutControllers = [CheckoutController, OrdersController];

/** Wires the feature `checkout`: a hold becomes an order (to be paid, or free) or is released. */
export const checkoutProviders: Provider[] = [
  adapter(PurchaseReader, PostgresPurchaseReader, DataSource, ReplicaReads, TicketingApi),
  adapter(Orders, PostgresOrders, BlacklistApi),
  useCase(PlaceOrders, Reservations, Orders, Ids, MatchesForSale),
  useCase(CheckOut, TransactionManager, PlaceOrders, Reservations, Orders, PaymentApi, OrderConsequences),
  useCase(ReleaseReservation, TransactionManager, Reservations, Orders, OrderConsequences),
];
