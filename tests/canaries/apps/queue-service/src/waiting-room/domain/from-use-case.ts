// rejected by eslint(no-restricted-imports): the domain folder of a context imports its use cases or ports
import { WaitingLines } from '../application/ports.ts';
export const lines = WaitingLines;
