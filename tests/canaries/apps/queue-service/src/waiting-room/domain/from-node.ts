// rejected by eslint(no-restricted-imports): the domain folder of a context imports Node
import { randomUUID } from 'node:crypto';
export const id = randomUUID;
