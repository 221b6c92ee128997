// rejected by eslint(no-restricted-imports): inbound imports an adapter instead of a use case
import { PostgresOrders } from '../outbound/postgres-orders.ts';
export const orders = PostgresOrders;
