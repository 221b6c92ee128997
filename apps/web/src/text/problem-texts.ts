import type { Problem, ProblemCode } from '../api/problem.ts';
import type { Format } from './format.ts';

/** The values that the text of a problem can contain. Times are already formatted for the fan's language. */
export interface ProblemTextData {
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

/** For each error code the function that makes its text. */
export type ProblemTexts = Record<ProblemCode, (facts: ProblemTextData) => string>;

/** The text that the page shows for a problem. */
export function describeProblem(problem: Problem, texts: ProblemTexts, format: Format): string {
  const { members } = problem;
  return texts[problem.code]({
    available: members.available,
    nextAt: members.next_expiry_at ? format.clock(members.next_expiry_at) : undefined,
    otherSectors: members.other_sectors === true,
    limit: members.limit,
    rest: members.rest,
    opensAt: members.opens_at ? format.dateTime(members.opens_at) : undefined,
    reason: members.reason,
    orderId: members.order_id,
    waitSeconds: problem.retryAfterSeconds,
  });
}
