// rejected by eslint(no-restricted-imports): the domain folder of a context imports an adapter library
import { newId } from '#platform/ids';
export const id = newId;
