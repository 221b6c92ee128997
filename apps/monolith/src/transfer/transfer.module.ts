import { Clock } from '#application/clock';
import { Ids } from '#application/ids';
import { Outbox } from '#application/outbox';
import { TransactionManager } from '#application/transaction-manager';
import { useCase } from '#platform/use-case';
import { Module } from '@nestjs/common';
import { BlacklistApi } from '../blacklist/blacklist.api.ts';
import { BlacklistModule } from '../blacklist/blacklist.module.ts';
import { CatalogApi } from '../catalog/catalog.api.ts';
import { CatalogModule } from '../catalog/catalog.module.ts';
import { ErasableWithFans, KeptAboutFans } from '../fans/kept-about-fans.api.ts';
import { FansApi } from '../fans/fans.api.ts';
import { FansModule } from '../fans/fans.module.ts';
import { PurchaseApi } from '../purchase/purchase.api.ts';
import { PurchaseModule } from '../purchase/purchase.module.ts';
import { TicketOffers } from '../ticketing/ticket-offers.api.ts';
import { TicketingApi } from '../ticketing/ticketing.api.ts';
import { TicketingModule } from '../ticketing/ticketing.module.ts';
import { WebhookEvents } from '../webhooks/webhook-events.api.ts';
import { WebhooksModule } from '../webhooks/webhooks.module.ts';
import { AcceptanceMessages } from './acceptance-messages.ts';
import { AcceptOffer } from './accept-offer.ts';
import { CallerAddress } from './caller-address.ts';
import { EndOffersOfFan } from './end-offers-of-fan.ts';
import { EndOffers } from './end-offers.ts';
import { KeptTransfers } from './kept-transfers.ts';
import { KnownFans } from './known-fans.ts';
import { OfferDeadlines } from './offer-deadlines.schedule.ts';
import { OfferMessages } from './offer-messages.ts';
import { OfferTicket } from './offer-ticket.ts';
import { Receivers } from './receivers.ts';
import { TransfersController } from './transfers.controller.ts';

/**
 * Transfers of tickets between fans: a fan offers a ticket, another one accepts it. Transfers are a context of their own, because
 * they need both purchase (the limits) and ticketing, which stores the offers.
 */
@Module({
  imports: [BlacklistModule, CatalogModule, FansModule, PurchaseModule, TicketingModule, WebhooksModule],
  controllers: [TransfersController],
  providers: [
    useCase(CallerAddress, FansApi),
    useCase(OfferMessages, FansApi, PurchaseApi, TicketOffers, Outbox, Ids, Clock),
    useCase(KnownFans, FansApi, PurchaseApi, TicketingApi),
    useCase(OfferTicket, TransactionManager, TicketingApi, TicketOffers, CatalogApi, KnownFans, OfferMessages),
    useCase(Receivers, FansApi, BlacklistApi, PurchaseApi, TicketingApi),
    useCase(AcceptanceMessages, OfferMessages, WebhookEvents),
    useCase(AcceptOffer, TransactionManager, TicketingApi, TicketOffers, CatalogApi, Receivers, AcceptanceMessages),
    useCase(EndOffers, TransactionManager, TicketOffers, CatalogApi, OfferMessages),
    useCase(KeptTransfers, KeptAboutFans, TicketOffers, CallerAddress),
    useCase(EndOffersOfFan, ErasableWithFans, TicketOffers, CallerAddress, EndOffers),
    OfferDeadlines,
  ],
})
export class TransferModule {}
