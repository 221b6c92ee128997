// rejected by eslint(no-restricted-imports): a use case imports from inbound
import { PurchaseController } from '../inbound/purchase.controller.ts';
export const controller = PurchaseController;
