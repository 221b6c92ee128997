// rejected by eslint(no-restricted-imports): the domain of one context imports the rules of another
import { order } from '#domain/purchase/order';
export const copy = order;
