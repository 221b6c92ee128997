import { RequestRefused } from './request-refused.ts';

/** An error that a zod schema found in the input. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
  /** For a union: the issues of each of its variants. */
  readonly errors?: readonly (readonly SchemaIssue[])[];
}

/** An answer lists at most 20 errors, even if a body has a thousand wrong items. */
const MAX_ERRORS = 20;

/** Turns the issues of a schema into an error VALIDATION_FAILED with the path of each wrong field. */
export function asValidationFailed(issues: readonly SchemaIssue[]): RequestRefused {
  const errors = issues
    .flatMap(ofBestVariant)
    .slice(0, MAX_ERRORS)
    .map(({ path, message }) => ({ path: keysOf(path).join('.'), message }));
  return new RequestRefused('VALIDATION_FAILED', { detail: 'The request is malformed: see errors.', errors });
}

/** For a union zod only says "Invalid input". Returns instead the issues of the variant with the fewest wrong fields. */
function ofBestVariant(issue: SchemaIssue): SchemaIssue[] {
  const variants = (issue.errors ?? []).map((found) => found.flatMap(ofBestVariant));
  const fieldsWrong = (found: readonly SchemaIssue[]): number => new Set(found.map(({ path }) => keysOf(path)[0])).size;
  const [best] = variants.sort((a, b) => fieldsWrong(a) - fieldsWrong(b));
  return best ? best.map((found) => ({ ...found, path: [...(issue.path ?? []), ...(found.path ?? [])] })) : [issue];
}

function keysOf(path: SchemaIssue['path']): string[] {
  return (path ?? []).map((part) => String(typeof part === 'object' ? part.key : part));
}
