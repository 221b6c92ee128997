// rejected by eslint(no-restricted-imports): the wiring of a feature imports a file of another context that is not its api
import { PostgresMatches } from '../../catalog/outbound/postgres-matches.ts';
export const matches = PostgresMatches;
