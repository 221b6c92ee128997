import { Ids } from '#application/ids';
import { Outbox } from '#application/outbox';
import type { JobKind } from '#messaging/jobs/job-runner';
import { ReplicaReads } from '#platform/postgres/replica-reads';
import { adapter, useCase } from '#platform/use-case';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { BlacklistModule } from '../blacklist/blacklist.module.ts';
import { CatalogModule } from '../catalog/catalog.module.ts';
import { ErasableWithFans, KeptAboutFans } from '../fans/kept-about-fans.api.ts';
import { FansModule } from '../fans/fans.module.ts';
import { PaymentModule } from '../payment/payment.module.ts';
import { TicketingApi } from '../ticketing/ticketing.api.ts';
import { TicketingModule } from '../ticketing/ticketing.module.ts';
import { WebhooksModule } from '../webhooks/webhooks.module.ts';
import { SeatViews } from './availability/application/availability-reader.ts';
import { availabilityControllers, availabilityProviders } from './availability/availability.providers.ts';
import { PostgresAvailability } from './availability/outbound/postgres-availability.ts';
import { PostgresSeatInventory } from './availability/outbound/postgres-seat-inventory.ts';
import { PurchaseReader } from './checkout/application/purchase-reader.ts';
import { ReleaseReservation } from './checkout/application/release-reservation.ts';
import { checkoutControllers, checkoutProviders } from './checkout/checkout.providers.ts';
import { ClaimsOfFan } from './claims-of-fan.api.ts';
import { ErasePurchases } from './erase-purchases.ts';
import { ReservationReader } from './hold/application/reservation-reader.ts';
import { holdControllers, holdProviders } from './hold/hold.providers.ts';
import { KeptPurchases } from './kept-purchases.ts';
import { PostgresPurchaseApi } from './outbound/postgres-purchase-api.ts';
import { PartnerSalesApi } from './partner-sales.api.ts';
import { partnerSalesProviders } from './partner-sales/partner-sales.providers.ts';
import { PurchaseApi } from './purchase.api.ts';
import { QuotaPlacesApi } from './quota-places.api.ts';
import { quotaPlacesProviders } from './quota-places/quota-places.providers.ts';
import { RefundMatchOrders } from './refunds/application/refund-match.ts';
import { refundMatchJob } from './refunds/inbound/refund-match-job.ts';
import { refundsControllers, refundsProviders } from './refunds/refunds.providers.ts';
import { settlementControllers, settlementProviders } from './settlement/settlement.providers.ts';
import { StoredTurns } from './stored-turns.api.ts';
import { turnsProviders } from './turns/turns.providers.ts';
import { warmUpControllers, warmUpProviders } from './warm-up/warm-up.providers.ts';

/** The kinds of background jobs that `purchase` handles, for the module that runs jobs. */
export class PurchaseJobKinds {
  constructor(readonly kinds: readonly JobKind[]) {}
}

/** The module for holds, orders and payments: from a free seat to a sold one. Each feature is wired in its own `x.providers.ts`. */
@Module({
  imports: [BlacklistModule, CatalogModule, FansModule, PaymentModule, TicketingModule, WebhooksModule],
  controllers: [
    ...holdControllers,
    ...checkoutControllers,
    ...refundsControllers,
    ...availabilityControllers,
    ...settlementControllers,
    ...warmUpControllers,
  ],
  providers: [
    ...availabilityProviders,
    ...turnsProviders,
    ...holdProviders,
    ...partnerSalesProviders,
    ...quotaPlacesProviders,
    ...checkoutProviders,
    ...settlementProviders,
    ...refundsProviders,
    ...warmUpProviders,
    {
      provide: PurchaseJobKinds,
      useFactory: (refundMatch: RefundMatchOrders) => new PurchaseJobKinds([refundMatchJob(refundMatch)]),
      inject: [RefundMatchOrders],
    },
    useCase(ErasePurchases, ErasableWithFans, ReservationReader, ReleaseReservation, Outbox, Ids),
    useCase(KeptPurchases, KeptAboutFans, PurchaseReader, ReservationReader, TicketingApi, DataSource),
    adapter(
      PurchaseApi,
      PostgresPurchaseApi,
      PostgresSeatInventory,
      SeatViews,
      PostgresAvailability,
      PurchaseReader,
      ReplicaReads,
    ),
  ],
  exports: [PurchaseApi, StoredTurns, PartnerSalesApi, QuotaPlacesApi, ClaimsOfFan, PurchaseJobKinds],
})
export class PurchaseModule {}
