// rejected by eslint(no-restricted-imports): inbound goes around the use case of another feature
import { PostgresOrders } from '../../checkout/outbound/postgres-orders.ts';
export const orders = PostgresOrders;
