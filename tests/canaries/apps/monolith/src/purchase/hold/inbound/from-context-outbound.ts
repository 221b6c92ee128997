// rejected by eslint(no-restricted-imports): inbound of a feature calls an adapter of its context
import { PurchaseDesk } from '../../outbound/purchase-desk.ts';
export const desk = PurchaseDesk;
