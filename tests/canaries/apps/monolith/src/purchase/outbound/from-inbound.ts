// rejected by eslint(no-restricted-imports): outbound imports from inbound
import { PurchaseController } from '../inbound/purchase.controller.ts';
export const controller = PurchaseController;
