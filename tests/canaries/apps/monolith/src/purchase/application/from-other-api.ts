// rejected by eslint(no-restricted-imports): a use case imports the api of another context instead of its own port
import { CatalogApi } from '../../catalog/catalog.api.ts';
export const api = CatalogApi;
