// rejected by eslint(no-restricted-imports): inbound imports the inside of another context
import { ListMatches } from '../../catalog/application/list-matches.ts';
export const list = ListMatches;
