// rejected by eslint(no-restricted-imports): outbound imports a use case of another feature
import { CheckOut } from '../../checkout/application/check-out.ts';
export const useCase = CheckOut;
