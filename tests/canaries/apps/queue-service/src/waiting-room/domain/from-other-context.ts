// rejected by eslint(no-restricted-imports): the domain folder of a context imports a context of libs/domain
import { Sale } from '#domain/catalog/sale';
export const sale = Sale;
