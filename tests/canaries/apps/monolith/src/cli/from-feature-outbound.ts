// rejected by eslint(no-restricted-imports): a CLI command imports an adapter of a feature instead of its use case
import { PostgresOrders } from '../purchase/checkout/outbound/postgres-orders.ts';
export const orders = PostgresOrders;
