// rejected by eslint(no-restricted-imports): a use case of a feature calls another context without a port
import { CatalogApi } from '../../../catalog/catalog.api.ts';
export const api = CatalogApi;
