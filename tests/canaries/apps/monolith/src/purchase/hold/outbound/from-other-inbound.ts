// rejected by eslint(no-restricted-imports): outbound imports from inbound of another feature
import { OrdersController } from '../../checkout/inbound/orders.controller.ts';
export const controller = OrdersController;
