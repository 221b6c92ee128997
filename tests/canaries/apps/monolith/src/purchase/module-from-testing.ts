// rejected by eslint(no-restricted-imports): a module imports a fake
import { MemoryOrders } from './testing/memory-orders.ts';
export const orders = MemoryOrders;
