// rejected by eslint(no-restricted-imports): the wiring of a feature imports another app
import { config } from '../../../../queue-service/src/config.ts';
export const copy = config;
