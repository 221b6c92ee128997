// rejected by eslint(no-restricted-imports): the application imports an adapter
import { Database } from '#platform/postgres/database';
export const database = Database;
