// rejected by eslint(no-restricted-imports): a library imports an app
import { config } from '../../../../apps/monolith/src/config.ts';
export const copy = config;
