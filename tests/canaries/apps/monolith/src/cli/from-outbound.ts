// rejected by eslint(no-restricted-imports): a CLI command imports an adapter instead of a use case
import { PostgresOrders } from '../purchase/outbound/postgres-orders.ts';
export const orders = PostgresOrders;
