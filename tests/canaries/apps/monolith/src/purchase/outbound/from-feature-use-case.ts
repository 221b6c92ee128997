// rejected by eslint(no-restricted-imports): outbound of a context imports a use case of a feature
import { HoldSeats } from '../hold/application/hold-seats.ts';
export const useCase = HoldSeats;
