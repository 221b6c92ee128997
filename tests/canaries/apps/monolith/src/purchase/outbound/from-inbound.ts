// rejected by eslint(no-restricted-imports): outbound knows who calls us
import { PurchaseController } from '../inbound/purchase.controller.ts';
export const controller = PurchaseController;
