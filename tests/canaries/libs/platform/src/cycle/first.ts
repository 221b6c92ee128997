// rejected by import(no-cycle): two files import each other
import { second } from './second.ts';
export const first = (): unknown => second;
