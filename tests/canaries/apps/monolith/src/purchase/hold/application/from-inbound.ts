// rejected by eslint(no-restricted-imports): a use case of a feature imports its caller
import { HoldController } from '../inbound/hold.controller.ts';
export const controller = HoldController;
