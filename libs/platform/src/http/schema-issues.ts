import type { z } from 'zod';
import { RequestRefused } from './request-refused.ts';

type Issue = z.core.$ZodIssue;

/** An answer lists at most 20 errors, even if a body has a thousand wrong items. */
const MAX_ERRORS = 20;

/** Turns the issues of a schema into an error VALIDATION_FAILED with the path of each wrong field. */
export function asValidationFailed(issues: readonly Issue[]): RequestRefused {
  const found = issues.flatMap(ofBestVariant).slice(0, MAX_ERRORS);
  const errors = found.map(({ path, message }) => ({ path: path.map(String).join('.'), message }));
  return new RequestRefused('VALIDATION_FAILED', { detail: 'The request is malformed: see errors.', errors });
}

/** For a union zod only says "Invalid input". Returns instead the issues of the variant with the fewest wrong fields. */
function ofBestVariant(issue: Issue): Issue[] {
  const variants = issue.code === 'invalid_union' ? issue.errors.map((found) => found.flatMap(ofBestVariant)) : [];
  const fieldsWrong = (found: readonly Issue[]): number => new Set(found.map(({ path }) => path[0])).size;
  const [best] = variants.sort((a, b) => fieldsWrong(a) - fieldsWrong(b));
  return best ? best.map((found) => ({ ...found, path: [...issue.path, ...found.path] })) : [issue];
}
