// rejected by eslint(no-restricted-imports): a context of libs/domain imports another context
import { Sale } from '../catalog/sale.ts';
export const sale = Sale;
