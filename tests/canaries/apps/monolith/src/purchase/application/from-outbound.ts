// rejected by eslint(no-restricted-imports): a use case imports an adapter
import { PostgresOrders } from '../outbound/postgres-orders.ts';
export const orders = PostgresOrders;
