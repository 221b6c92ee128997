// rejected by import(no-cycle): two files import each other
import { first } from './first.ts';
export const second = (): unknown => first;
