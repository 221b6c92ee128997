// legal
import { cents } from '../shared/money.ts';
import { limit } from './ticket-limit.ts';
export const total = (moment: Date): number => cents + limit + new Date(moment).getTime() + Date.parse('2026-12-12');
