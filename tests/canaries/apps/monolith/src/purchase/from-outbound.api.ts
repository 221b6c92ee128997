// rejected by eslint(no-restricted-imports): the api file of a context imports an adapter
import { PostgresOrders } from './outbound/postgres-orders.ts';
export const orders = PostgresOrders;
