// rejected by eslint(no-restricted-imports): a contract imports an adapter
import { Database } from '#platform/postgres/database';
export const database = Database;
