// rejected by eslint(no-restricted-imports): the core of the event loader imports an adapter
import { x } from '../adapters/redis-locks.ts';
export const y = x;
