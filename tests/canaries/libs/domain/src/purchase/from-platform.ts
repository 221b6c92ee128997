// rejected by eslint(no-restricted-imports): the domain imports a library of ours that is not pure
import { newId } from '#platform/ids';
export const id = newId;
