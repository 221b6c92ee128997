// rejected by eslint(no-restricted-imports): what all contexts share imports one of them
import { Order } from '../purchase/order.ts';
export const order = Order;
