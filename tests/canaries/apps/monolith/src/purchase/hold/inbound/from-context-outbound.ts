// rejected by eslint(no-restricted-imports): inbound of a feature calls an adapter of its context
import { PostgresPurchaseApi } from '../../outbound/postgres-purchase-api.ts';
export const desk = PostgresPurchaseApi;
