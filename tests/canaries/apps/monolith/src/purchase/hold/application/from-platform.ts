// rejected by eslint(no-restricted-imports): a use case of a feature imports an adapter library
import { Database } from '#platform/postgres/database';
export const database = Database;
