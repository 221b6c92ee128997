// rejected by eslint(no-restricted-imports): outbound imports a use case
import { HoldSeats } from '../application/hold-seats.ts';
export const useCase = HoldSeats;
