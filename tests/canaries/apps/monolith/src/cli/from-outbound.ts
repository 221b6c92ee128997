// rejected by eslint(no-restricted-imports): a command goes around the use case
import { PostgresOrders } from '../purchase/outbound/postgres-orders.ts';
export const orders = PostgresOrders;
