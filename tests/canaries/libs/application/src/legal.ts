// legal
import { cents } from '#domain/shared/money';
import { Clock } from './clock.ts';
export const parts = [cents, Clock];
