// rejected by eslint(no-restricted-imports): the domain of one context imports an adapter library
import { newId } from '#platform/ids';
export const id = newId;
