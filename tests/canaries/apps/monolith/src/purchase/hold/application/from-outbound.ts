// rejected by eslint(no-restricted-imports): a use case of a feature imports an adapter
import { PostgresOrders } from '../outbound/postgres-orders.ts';
export const orders = PostgresOrders;
