// rejected by eslint(no-restricted-imports): inbound of a feature imports an adapter instead of a use case
import { PostgresOrders } from '../outbound/postgres-orders.ts';
export const orders = PostgresOrders;
