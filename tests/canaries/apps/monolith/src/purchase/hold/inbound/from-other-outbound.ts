// rejected by eslint(no-restricted-imports): inbound imports an adapter of another feature instead of its use case
import { PostgresOrders } from '../../checkout/outbound/postgres-orders.ts';
export const orders = PostgresOrders;
