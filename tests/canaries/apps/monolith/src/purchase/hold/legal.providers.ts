// legal
import { CatalogApi } from '../../catalog/catalog.api.ts';
import { LOGGER } from '../../tokens.ts';
import { MatchesForSale } from '../application/ports.ts';
import { PostgresWindows } from '../turns/outbound/postgres-windows.ts';
import { HoldSeats } from './application/hold-seats.ts';
import { PostgresOrders } from './outbound/postgres-orders.ts';
export const parts = [CatalogApi, LOGGER, MatchesForSale, PostgresWindows, HoldSeats, PostgresOrders];
