// rejected by eslint(no-restricted-imports): inbound of a context goes around the use case of a feature
import { PostgresOrders } from '../checkout/outbound/postgres-orders.ts';
export const orders = PostgresOrders;
