// legal
import { cents } from '#domain/shared/money';
import { step } from './position-steps.ts';
export const total = (moment: Date): number => cents + step + new Date(moment).getTime() + Date.parse('2026-12-12');
