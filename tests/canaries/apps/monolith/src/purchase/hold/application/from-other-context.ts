// rejected by eslint(no-restricted-imports): a use case of a feature imports a file of another context that is not its api
import { ListMatches } from '../../../catalog/application/list-matches.ts';
export const list = ListMatches;
