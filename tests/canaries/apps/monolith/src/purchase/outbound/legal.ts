// legal
import { Database } from '#platform/postgres/database';
import { CatalogApi } from '../../catalog/catalog.api.ts';
import { Orders } from '../application/ports.ts';
import { PurchaseReader } from '../application/purchase-reader.ts';
export const parts = [Database, CatalogApi, Orders, PurchaseReader];
