import type { ErrorCode } from '#contracts/error-catalogue';

/** A wrong field of a request, in the answer VALIDATION_FAILED. */
export interface FieldError {
  readonly path: string;
  readonly message: string;
}

interface Particulars {
  readonly detail?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly errors?: readonly FieldError[];
  /** Members of the answer in addition to the standard ones, at top level. */
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** Thrown by controllers and hooks to answer a request with an error. The error catalogue gives the HTTP status for the code. */
export class RequestRefused extends Error {
  readonly particulars: Particulars;

  constructor(
    readonly code: ErrorCode,
    particulars: Particulars = {},
  ) {
    super(particulars.detail ?? code, { cause: particulars.cause });
    this.name = code;
    this.particulars = particulars;
  }
}
