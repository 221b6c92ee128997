import { Clock } from '#application/clock';
import { Ids } from '#application/ids';
import { Outbox } from '#application/outbox';
import { TransactionManager } from '#application/transaction-manager';
import { adapter, useCase } from '#platform/use-case';
import type { Provider } from '@nestjs/common';
import { WebhookEvents } from '../../webhooks/webhook-events.api.ts';
import { FansApi } from '../../fans/fans.api.ts';
import { PaymentApi } from '../../payment/payment.api.ts';
import { TicketingApi } from '../../ticketing/ticketing.api.ts';
import { LOGGER } from '../../tokens.ts';
import { MatchesForSale } from '../application/sale-ports.ts';
import { OrderConsequences, Orders } from '../checkout/application/ports.ts';
import { Reservations } from '../hold/application/reservation-ports.ts';
import { PostgresPurchaseWindows } from '../turns/outbound/postgres-purchase-windows.ts';
import { PaymentInbox } from './application/ports.ts';
import { SettlePayment } from './application/settle-payment.ts';
import { LoadedPaymentsSchedule } from './inbound/loaded-payments.schedule.ts';
import { LoadedPayments } from './inbound/loaded-payments.ts';
import { PaymentWebhookController } from './inbound/payment-webhook.controller.ts';
import { PostgresOrderConsequences } from './outbound/order-consequences.ts';
import { OrderMessenger } from './outbound/order-messenger.ts';
import { PostgresPaymentInbox } from './outbound/postgres-payment-inbox.ts';

export const settlementControllers = [PaymentWebhookController];

/** Applies payments to orders, and writes the effects of a decided order: tickets, the end of the turn, messages. */
export const settlementProviders: Provider[] = [
  adapter(PaymentInbox, PostgresPaymentInbox),
  useCase(OrderMessenger, FansApi, MatchesForSale, Outbox, WebhookEvents, Ids, Clock),
  adapter(OrderConsequences, PostgresOrderConsequences, TicketingApi, PostgresPurchaseWindows, OrderMessenger),
  useCase(SettlePayment, TransactionManager, PaymentInbox, Orders, Reservations, MatchesForSale, OrderConsequences),
  useCase(LoadedPayments, PaymentApi, SettlePayment, LOGGER),
  LoadedPaymentsSchedule,
];
