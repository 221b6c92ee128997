// rejected by eslint(no-restricted-imports): outbound of a feature imports from inbound
import { HoldController } from '../inbound/hold.controller.ts';
export const controller = HoldController;
