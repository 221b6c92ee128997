// rejected by eslint(no-restricted-imports): apps/web imports server code
import { Database } from '#platform/postgres/database';
export const database = Database;
