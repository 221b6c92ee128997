import { DomainError } from '#domain/shared/domain-error';
import { rowOf, type ErrorCode } from './error-catalogue.ts';
import { RequestRefused, type FieldError } from './request-refused.ts';

export interface Problem {
  readonly code: ErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What Fastify's own refusals mean in our words; anything it may add later with a 4xx status reads as malformed. */
const fastifyCodes: Record<string, ErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'PAYLOAD_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_NOT_FOUND: 'NOT_FOUND',
  FST_ERR_MAX_PARAM_LENGTH: 'URI_TOO_LONG',
  FST_ERR_HANDLER_TIMEOUT: 'OUTCOME_UNKNOWN',
};

const statusCodes: Record<number, ErrorCode> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  413: 'PAYLOAD_TOO_LARGE',
  414: 'URI_TOO_LONG',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'RATE_LIMITED',
  503: 'SHUTTING_DOWN',
};

/** Lost or refused connections, as the drivers name them. */
const unreachable = /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EPIPE|ETIMEDOUT|EAI_AGAIN|57P0[123]|08[0-9A-Z]{3}|53300|CLUSTERDOWN)$/;
const unreachableText = /Connection is closed|Stream isn't writeable|max retries per request|timeout exceeded when trying to connect|Connection terminated|Command timed out|ClusterAllFailedError|READONLY|LOADING/i;

function asRefusal(error: unknown): RequestRefused {
  if (error instanceof RequestRefused) return error;
  if (error instanceof DomainError) {
    const { errors, ...extra } = error.data as { errors?: readonly FieldError[] };
    return new RequestRefused(error.code, { detail: error.message, extra, errors });
  }
  const { code, statusCode, status, message, driverError } = (error ?? {}) as Record<string, unknown>;
  const sqlstate = (driverError as { code?: unknown } | undefined)?.code;
  if (unreachable.test(String(sqlstate ?? code)) || unreachableText.test(String(message))) {
    return new RequestRefused('DEPENDENCY_UNAVAILABLE', { cause: error });
  }
  const httpStatus = Number(statusCode ?? status ?? 500);
  const known = fastifyCodes[String(code)] ?? statusCodes[httpStatus];
  if (known) return new RequestRefused(known, { cause: error });
  if (httpStatus >= 400 && httpStatus < 500) return new RequestRefused('VALIDATION_FAILED', { detail: 'The request could not be read.', cause: error });
  return new RequestRefused('INTERNAL_ERROR', { detail: 'Something went wrong on our side. It has been logged under this request id.', cause: error });
}

/** Any error → what the caller may know about it (RFC 9457). Nothing of an unexpected error but its request id gets out. */
export function toProblem(error: unknown, requestId: string): Problem {
  const refusal = asRefusal(error);
  const row = rowOf(refusal.code);
  const { detail, headers, errors, extra } = refusal.particulars;
  const retryAfter: Record<string, string> = row.retryAfterSeconds === undefined ? {} : { 'retry-after': String(row.retryAfterSeconds) };
  return {
    code: refusal.code,
    status: row.status,
    headers: { ...retryAfter, ...headers },
    body: {
      ...extra,
      type: `/docs/errors#${refusal.code}`,
      title: row.title,
      status: row.status,
      code: refusal.code,
      detail: detail ?? row.title,
      request_id: requestId,
      ...(errors && errors.length > 0 ? { errors } : {}),
    },
  };
}
