// legal
import { MemoryOrders } from './testing/memory-orders.ts';
export const started = [MemoryOrders, new Date(), Math.random(), process.env.HOME];
