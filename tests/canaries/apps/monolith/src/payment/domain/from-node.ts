// rejected by eslint(no-restricted-imports): the domain of one context imports Node
import { randomUUID } from 'node:crypto';
export const id = randomUUID;
