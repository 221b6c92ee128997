// rejected by eslint(no-restricted-imports): outbound of a context knows who calls a feature
import { HoldController } from '../hold/inbound/hold.controller.ts';
export const controller = HoldController;
