import type { Problem, ProblemCode } from '../api/problem.ts';
import type { Format } from './format.ts';

/** What a problem's text may speak of, already written in the fan's way of writing times and numbers. */
export interface SpokenFacts {
  available: number | undefined;
  nextAt: string | undefined;
  otherSectors: boolean;
  limit: number | undefined;
  rest: number | undefined;
  opensAt: string | undefined;
  reason: string | undefined;
  orderId: string | undefined;
  waitSeconds: number | undefined;
}

export type ProblemTexts = Record<ProblemCode, (facts: SpokenFacts) => string>;

export function describeProblem(problem: Problem, texts: ProblemTexts, format: Format): string {
  const { facts } = problem;
  return texts[problem.code]({
    available: facts.available,
    nextAt: facts.next_expiry_at ? format.clock(facts.next_expiry_at) : undefined,
    otherSectors: facts.other_sectors === true,
    limit: facts.limit,
    rest: facts.rest,
    opensAt: facts.opens_at ? format.dateTime(facts.opens_at) : undefined,
    reason: facts.reason,
    orderId: facts.order_id,
    waitSeconds: problem.retryAfterSeconds,
  });
}
