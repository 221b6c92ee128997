// rejected by eslint(no-restricted-imports): libs/domain imports Node
import { randomUUID } from 'node:crypto';
export const id = randomUUID;
