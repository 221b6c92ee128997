// rejected by eslint(no-restricted-imports): inbound goes around the use case
import { PostgresOrders } from '../outbound/postgres-orders.ts';
export const orders = PostgresOrders;
