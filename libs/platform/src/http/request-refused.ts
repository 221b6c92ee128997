import type { ErrorCode } from '#contracts/error-catalogue';
import type { ProblemMembers } from '#contracts/problems';

interface Particulars {
  readonly detail?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The wrong fields of the request, in the answer VALIDATION_FAILED. */
  readonly errors?: ProblemMembers['errors'];
  /** Members of the answer in addition to the standard ones, at top level. */
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** Thrown by controllers and hooks to answer a request with an error. The error catalogue gives the HTTP status for the code. */
export class RequestRefused extends Error {
  constructor(
    readonly code: ErrorCode,
    readonly particulars: Particulars = {},
  ) {
    super(particulars.detail ?? code, { cause: particulars.cause });
    this.name = code;
  }
}
