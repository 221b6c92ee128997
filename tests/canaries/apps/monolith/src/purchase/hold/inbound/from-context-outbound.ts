// rejected by eslint(no-restricted-imports): inbound of a feature imports an adapter of its context
import { PostgresPurchaseApi } from '../../outbound/postgres-purchase-api.ts';
export const api = PostgresPurchaseApi;
