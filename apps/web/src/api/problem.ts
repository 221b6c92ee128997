import type { ProblemMembers } from '#contracts/problems';
import { problemTexts } from '../text/en-problems.ts';

/**
 * The error codes that the page has a text for. Any other code is shown as UNKNOWN. TypeScript reports a code that has no text in
 * some language.
 */
export type ProblemCode = keyof typeof problemTexts;

const isKnown = (code: unknown): code is ProblemCode => typeof code === 'string' && Object.hasOwn(problemTexts, code);

/** A failed API call, with the code, the status and the members of the problem+json answer. */
export class Problem extends Error {
  constructor(
    readonly code: ProblemCode,
    readonly status: number,
    readonly members: ProblemMembers = {},
    readonly retryAfterSeconds?: number,
    readonly requestId?: string,
  ) {
    super(code);
  }
}

/** Reads an error answer (problem+json) as a Problem. */
export async function readProblem(response: Response): Promise<Problem> {
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  const retryAfterSeconds = Number.isFinite(retryAfter) ? retryAfter : undefined;
  const requestId = response.headers.get('x-request-id') ?? undefined;
  try {
    const body = (await response.json()) as ProblemMembers & { code?: unknown; request_id?: string };
    return new Problem(
      isKnown(body.code) ? body.code : 'UNKNOWN',
      response.status,
      body,
      retryAfterSeconds,
      body.request_id ?? requestId,
    );
  } catch {
    return new Problem('UNKNOWN', response.status, {}, retryAfterSeconds, requestId);
  }
}

/**
 * Turns a caught value into a Problem. A bug in the page becomes a Problem with the code UNKNOWN and is written to the console.
 */
export function toProblem(caught: unknown): Problem {
  if (caught instanceof Problem) return caught;
  reportError(caught);
  return new Problem('UNKNOWN', 0);
}
