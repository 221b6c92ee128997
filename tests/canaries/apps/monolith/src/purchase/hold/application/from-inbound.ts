// rejected by eslint(no-restricted-imports): a use case of a feature imports from inbound
import { HoldController } from '../inbound/hold.controller.ts';
export const controller = HoldController;
