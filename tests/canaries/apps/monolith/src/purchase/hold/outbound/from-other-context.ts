// rejected by eslint(no-restricted-imports): outbound of a feature imports the inside of another context
import { PostgresMatches } from '../../../catalog/outbound/postgres-matches.ts';
export const matches = PostgresMatches;
