// legal
import type { Event } from './event.ts';
export const idOf = ({ id }: Event): string => id;
