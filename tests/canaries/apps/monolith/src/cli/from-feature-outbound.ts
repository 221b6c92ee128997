// rejected by eslint(no-restricted-imports): a command goes around the use case of a feature
import { PostgresOrders } from '../purchase/checkout/outbound/postgres-orders.ts';
export const orders = PostgresOrders;
