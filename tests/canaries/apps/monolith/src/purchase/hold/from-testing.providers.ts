// rejected by eslint(no-restricted-imports): the wiring of a feature imports a fake
import { MemoryOrders } from '../testing/memory-orders.ts';
export const orders = MemoryOrders;
