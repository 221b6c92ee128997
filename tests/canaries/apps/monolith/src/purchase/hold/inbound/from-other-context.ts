// rejected by eslint(no-restricted-imports): inbound of a feature imports the inside of another context
import { ListMatches } from '../../../catalog/application/list-matches.ts';
export const list = ListMatches;
