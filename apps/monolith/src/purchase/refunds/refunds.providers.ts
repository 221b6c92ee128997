import { Jobs } from '#application/jobs';
import { TransactionManager } from '#application/transaction-manager';
import { adapter, useCase } from '#platform/use-case';
import type { Provider } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { TicketingApi } from '../../ticketing/ticketing.api.ts';
import { Orders } from '../checkout/application/ports.ts';
import { Reservations } from '../hold/application/reservation-ports.ts';
import { OrderMessenger } from '../settlement/outbound/order-messenger.ts';
import { RefundMatchOrders } from './application/refund-match.ts';
import { RefundConsequences, Refunds } from './application/refund-ports.ts';
import { RefundTickets } from './application/refund-tickets.ts';
import { OpsOrdersController } from './inbound/ops-orders.controller.ts';
import { PostgresRefunds } from './outbound/postgres-refunds.ts';
import { PostgresRefundConsequences } from './outbound/refund-consequences.ts';

export const refundsControllers = [OpsOrdersController];

/** Wires the feature `refunds`: operators search and refund orders, and a job refunds the orders of a cancelled match. */
export const refundsProviders: Provider[] = [
  adapter(RefundConsequences, PostgresRefundConsequences, TicketingApi, OrderMessenger),
  adapter(Refunds, PostgresRefunds, DataSource),
  useCase(RefundTickets, TransactionManager, Refunds, Reservations, Orders, RefundConsequences),
  useCase(RefundMatchOrders, Refunds, RefundTickets, Jobs),
];
