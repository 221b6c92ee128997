// rejected by eslint(no-restricted-imports): inbound of a context imports an adapter of a feature instead of its use case
import { PostgresOrders } from '../checkout/outbound/postgres-orders.ts';
export const orders = PostgresOrders;
