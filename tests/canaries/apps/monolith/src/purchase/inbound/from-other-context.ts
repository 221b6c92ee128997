// rejected by eslint(no-restricted-imports): inbound imports a file of another context that is not its api
import { ListMatches } from '../../catalog/application/list-matches.ts';
export const list = ListMatches;
