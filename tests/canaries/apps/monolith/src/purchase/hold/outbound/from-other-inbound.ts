// rejected by eslint(no-restricted-imports): outbound knows who calls another feature
import { OrdersController } from '../../checkout/inbound/orders.controller.ts';
export const controller = OrdersController;
