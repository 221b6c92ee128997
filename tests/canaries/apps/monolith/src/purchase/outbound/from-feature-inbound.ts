// rejected by eslint(no-restricted-imports): outbound of a context imports from inbound of a feature
import { HoldController } from '../hold/inbound/hold.controller.ts';
export const controller = HoldController;
