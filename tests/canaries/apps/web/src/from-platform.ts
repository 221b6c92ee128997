// rejected by eslint(no-restricted-imports): the page imports server code
import { Database } from '#platform/postgres/database';
export const database = Database;
