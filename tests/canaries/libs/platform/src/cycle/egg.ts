// rejected by import(no-cycle): two files that need each other
import { hen } from './hen.ts';
export const egg = (): unknown => hen;
