// rejected by eslint(no-restricted-imports): the shared folder of libs/domain imports a context
import { Order } from '../purchase/order.ts';
export const order = Order;
