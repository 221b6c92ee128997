// rejected by eslint(no-restricted-imports): the domain folder of a context imports a use case
import { Pay } from '../application/pay.ts';
export const pay = Pay;
