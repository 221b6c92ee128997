// rejected by eslint(no-restricted-imports): the rules of a context import Node
import { randomUUID } from 'node:crypto';
export const id = randomUUID;
