// legal
import { step } from '../domain/position-steps.ts';
export const steps = [step];
