import { RequestRefused } from './request-refused.ts';

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
  /** Of a body that may have one of several forms: what is wrong with it as each of them. */
  readonly errors?: readonly (readonly SchemaIssue[])[];
}

/** At most 20 of them: a body of a thousand wrong items is still one wrong body. */
const MOST_TOLD = 20;

/** What a schema found, as an answer that says where. */
export function asValidationFailed(issues: readonly SchemaIssue[]): RequestRefused {
  const errors = issues
    .flatMap(ofItsForm)
    .slice(0, MOST_TOLD)
    .map(({ path, message }) => ({ path: keysOf(path).join('.'), message }));
  return new RequestRefused('VALIDATION_FAILED', { detail: 'The request is malformed: see errors.', errors });
}

/** "Invalid input" helps nobody: of several forms the one is taken that has the fewest fields wrong, since it was meant. */
function ofItsForm(issue: SchemaIssue): SchemaIssue[] {
  const forms = (issue.errors ?? []).map((found) => found.flatMap(ofItsForm));
  const fieldsWrong = (found: readonly SchemaIssue[]): number => new Set(found.map(({ path }) => keysOf(path)[0])).size;
  const [meant] = forms.sort((a, b) => fieldsWrong(a) - fieldsWrong(b));
  return meant ? meant.map((found) => ({ ...found, path: [...(issue.path ?? []), ...(found.path ?? [])] })) : [issue];
}

function keysOf(path: SchemaIssue['path']): string[] {
  return (path ?? []).map((part) => String(typeof part === 'object' ? part.key : part));
}
