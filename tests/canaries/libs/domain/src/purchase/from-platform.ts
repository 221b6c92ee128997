// rejected by eslint(no-restricted-imports): libs/domain imports an adapter library
import { newId } from '#platform/ids';
export const id = newId;
