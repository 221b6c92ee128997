// rejected by eslint(no-restricted-imports): what a context promises depends on how it keeps it
import { PostgresOrders } from './outbound/postgres-orders.ts';
export const orders = PostgresOrders;
