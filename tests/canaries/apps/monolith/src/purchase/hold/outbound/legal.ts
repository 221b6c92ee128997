// legal
import { Database } from '#platform/postgres/database';
import { CatalogApi } from '../../../catalog/catalog.api.ts';
import { MatchesForSale } from '../../application/ports.ts';
import { Orders } from '../../checkout/application/ports.ts';
import { PurchaseReader } from '../../checkout/application/purchase-reader.ts';
import { StreamCursors } from '../../turns/application/waiting-room-ports.ts';
import { PostgresWindows } from '../../turns/outbound/postgres-windows.ts';
import { PurchaseApi } from '../../purchase.api.ts';
import { SeatHolds } from '../application/ports.ts';
export const parts = [
  Database,
  CatalogApi,
  MatchesForSale,
  Orders,
  PurchaseReader,
  StreamCursors,
  PostgresWindows,
  PurchaseApi,
  SeatHolds,
];
