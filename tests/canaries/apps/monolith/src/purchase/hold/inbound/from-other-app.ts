// rejected by eslint(no-restricted-imports): inbound of a feature imports another app
import { config } from '../../../../../queue-service/src/config.ts';
export const copy = config;
