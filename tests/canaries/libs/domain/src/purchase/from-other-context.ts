// rejected by eslint(no-restricted-imports): a context of the domain imports another one
import { Sale } from '../catalog/sale.ts';
export const sale = Sale;
