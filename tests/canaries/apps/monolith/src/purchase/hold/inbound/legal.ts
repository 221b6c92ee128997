// legal
import { Controller } from '@nestjs/common';
import { Endpoint } from '#platform/http/endpoint';
import { CatalogApi } from '../../../catalog/catalog.api.ts';
import { LOGGER } from '../../../tokens.ts';
import { MatchesForSale } from '../../application/ports.ts';
import { CheckOut } from '../../checkout/application/check-out.ts';
import { orderView } from '../../checkout/inbound/order-view.ts';
import { PurchaseApi } from '../../purchase.api.ts';
import { HoldSeats } from '../application/hold-seats.ts';
export const parts = [Controller, Endpoint, CatalogApi, LOGGER, MatchesForSale, CheckOut, orderView, PurchaseApi, HoldSeats];
