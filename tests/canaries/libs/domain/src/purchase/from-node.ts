// rejected by eslint(no-restricted-imports): the domain imports Node
import { randomUUID } from 'node:crypto';
export const id = randomUUID;
