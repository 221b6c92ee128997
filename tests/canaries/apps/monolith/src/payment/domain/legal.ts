// legal
import { cents } from '#domain/shared/money';
import { intent } from './intent.ts';
export const parts = [cents, intent];
