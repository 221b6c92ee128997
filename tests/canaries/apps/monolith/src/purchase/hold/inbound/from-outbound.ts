// rejected by eslint(no-restricted-imports): inbound of a feature goes around the use case
import { PostgresOrders } from '../outbound/postgres-orders.ts';
export const orders = PostgresOrders;
