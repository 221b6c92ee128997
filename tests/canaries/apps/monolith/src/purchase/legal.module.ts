// legal
import { CatalogApi } from '../catalog/catalog.api.ts';
import { CatalogModule } from '../catalog/catalog.module.ts';
import { HoldSeats } from './application/hold-seats.ts';
import { PurchaseController } from './inbound/purchase.controller.ts';
import { PostgresOrders } from './outbound/postgres-orders.ts';
export const parts = [CatalogApi, CatalogModule, HoldSeats, PurchaseController, PostgresOrders];
