// rejected by eslint(no-restricted-imports): the rules of a context import a library of ours that is not pure
import { newId } from '#platform/ids';
export const id = newId;
