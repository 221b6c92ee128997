// rejected by eslint(no-restricted-imports): a use case imports its caller
import { PurchaseController } from '../inbound/purchase.controller.ts';
export const controller = PurchaseController;
