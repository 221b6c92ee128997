// rejected by eslint(no-restricted-imports): a use case imports an adapter of another feature
import { PostgresOrders } from '../../checkout/outbound/postgres-orders.ts';
export const orders = PostgresOrders;
