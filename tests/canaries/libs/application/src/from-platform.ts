// rejected by eslint(no-restricted-imports): libs/application imports an adapter
import { Database } from '#platform/postgres/database';
export const database = Database;
