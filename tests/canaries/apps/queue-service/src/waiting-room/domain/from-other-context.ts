// rejected by eslint(no-restricted-imports): the rules of a context import another context of the domain
import { Sale } from '#domain/catalog/sale';
export const sale = Sale;
