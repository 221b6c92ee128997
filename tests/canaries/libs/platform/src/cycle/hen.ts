// rejected by import(no-cycle): two files that need each other
import { egg } from './egg.ts';
export const hen = (): unknown => egg;
