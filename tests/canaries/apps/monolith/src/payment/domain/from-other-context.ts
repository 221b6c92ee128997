// rejected by eslint(no-restricted-imports): the domain folder of a context imports another context of libs/domain
import { order } from '#domain/purchase/order';
export const copy = order;
