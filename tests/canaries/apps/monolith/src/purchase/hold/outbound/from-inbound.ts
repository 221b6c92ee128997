// rejected by eslint(no-restricted-imports): outbound of a feature knows who calls us
import { HoldController } from '../inbound/hold.controller.ts';
export const controller = HoldController;
