// rejected by eslint(no-restricted-imports): libs/contracts imports an adapter
import { Database } from '#platform/postgres/database';
export const database = Database;
