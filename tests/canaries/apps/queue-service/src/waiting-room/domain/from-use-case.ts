// rejected by eslint(no-restricted-imports): the rules of a context import its use cases or ports
import { WaitingLines } from '../application/ports.ts';
export const lines = WaitingLines;
