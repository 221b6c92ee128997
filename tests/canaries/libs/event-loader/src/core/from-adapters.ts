// rejected by eslint(no-restricted-imports): the core of the event loader knows no adapter
import { x } from '../adapters/redis-locks.ts';
export const y = x;
