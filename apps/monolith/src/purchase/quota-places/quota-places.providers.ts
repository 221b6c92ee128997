import { Ids } from '#application/ids';
import { adapter, useCase } from '#platform/use-case';
import type { Provider } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CONFIG } from '../../tokens.ts';
import { MatchesForSale } from '../application/sale-ports.ts';
import { SeatViews } from '../availability/application/availability-reader.ts';
import { OrderConsequences, Orders } from '../checkout/application/ports.ts';
import { Reservations } from '../hold/application/reservation-ports.ts';
import { SeatChangeBroadcast } from '../hold/outbound/seat-change-broadcast.ts';
import { ClaimsOfFan } from '../claims-of-fan.api.ts';
import { QuotaPlacesApi } from '../quota-places.api.ts';
import { ClaimPlaces } from './claim-places.ts';
import { InvitedPlaces, PostgresInvitedPlaces } from './invited-places.ts';
import { PostgresClaimsOfFan } from './postgres-claims-of-fan.ts';
import { PostgresQuotaPlaces } from './postgres-quota-places.ts';

/** Wires the feature `quota-places`: places of quotas are moved, bound to invitations, and held for the fans who claim them. */
export const quotaPlacesProviders: Provider[] = [
  adapter(InvitedPlaces, PostgresInvitedPlaces, CONFIG),
  useCase(ClaimPlaces, InvitedPlaces, Reservations, Orders, OrderConsequences, MatchesForSale, Ids),
  adapter(ClaimsOfFan, PostgresClaimsOfFan, DataSource),
  adapter(QuotaPlacesApi, PostgresQuotaPlaces, DataSource, SeatViews, SeatChangeBroadcast, ClaimPlaces),
];
