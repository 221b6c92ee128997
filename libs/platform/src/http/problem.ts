import { DomainError } from '#domain/shared/domain-error';
import { HttpException } from '@nestjs/common';
import { isConnectionLoss, RETRYABLE_SQLSTATES, sqlstateOf, sqlstates } from '../postgres/sqlstates.ts';
import { rowOf, type ErrorCode } from '#contracts/error-catalogue';
import type { ProblemMembers } from '#contracts/problems';
import { RequestRefused } from './request-refused.ts';

/** An error answer (RFC 9457, problem+json) with its HTTP status and headers. */
export interface Problem {
  readonly code: ErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Maps Fastify's own error codes to codes of our catalogue. */
const fastifyCodes: Record<string, ErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'PAYLOAD_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_NOT_FOUND: 'NOT_FOUND',
  FST_ERR_MAX_PARAM_LENGTH: 'URI_TOO_LONG',
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

/** Matches error codes of Node for lost or refused connections. */
const unreachable = /^(ECONN\w+|ENOTFOUND|EPIPE|ETIMEDOUT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;
/** Matches error messages of ioredis for lost connections. */
const unreachableText =
  /Connection is closed|Stream isn't writeable|max retries per request|Command timed out|Failed to refresh slots cache/;
/**
 * Matches error replies of a Redis that runs but cannot serve: during a failover or start, out of memory, or without its
 * replicas.
 */
const redisRefusal = /^(READONLY|LOADING|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|NOREPLICAS|MISCONF|OOM) /;

/**
 * Returns the error code for an SQLSTATE that was thrown outside the transaction manager. Text that PostgreSQL cannot store
 * (22021, 22P05: a NUL) came from the caller. A PostgreSQL standby that is not promoted yet answers 25006 to a write and 0A000 to
 * a SERIALIZABLE transaction.
 */
function sqlstateCode(state: string): ErrorCode | undefined {
  if (RETRYABLE_SQLSTATES.has(state) || state === sqlstates.queryCanceled) return 'LOCK_TIMEOUT';
  if (/^(53|58|25006|0A000)/.test(state)) return 'DEPENDENCY_UNAVAILABLE';
  return state === '22021' || state === '22P05' ? 'VALIDATION_FAILED' : undefined;
}

/**
 * Returns the error code for an error of Fastify (it has `statusCode`) or Nest (`HttpException`). An unknown 4xx status becomes
 * VALIDATION_FAILED. The property `status` of an error is ignored, because it may be the answer of another service to us.
 */
function httpCode(error: { code?: unknown; statusCode?: unknown }): ErrorCode | undefined {
  const status = error instanceof HttpException ? error.getStatus() : Number(error.statusCode);
  const known = fastifyCodes[String(error.code)] ?? statusCodes[status];
  return known ?? (status >= 400 && status < 500 ? 'VALIDATION_FAILED' : undefined);
}

function codeOf(error: unknown): ErrorCode | undefined {
  const given = (error ?? {}) as { code?: unknown; statusCode?: unknown; message?: unknown };
  const http = httpCode(given);
  if (http) return http;
  if (isConnectionLoss(error)) return 'DEPENDENCY_UNAVAILABLE';
  const state = sqlstateOf(error);
  if (state) return sqlstateCode(state);
  const text = String(given.message);
  const isUnreachable = unreachable.test(String(given.code)) || unreachableText.test(text) || redisRefusal.test(text);
  return isUnreachable ? 'DEPENDENCY_UNAVAILABLE' : undefined;
}

const unexpected = 'Something went wrong on our side. It has been logged under this request id.';

function asRefusal(error: unknown): RequestRefused {
  if (error instanceof RequestRefused) return error;
  if (error instanceof DomainError) {
    const { errors, retry_after_seconds, ...extra } = error.data as Pick<ProblemMembers, 'errors'> & {
      retry_after_seconds?: number;
    };
    return new RequestRefused(error.code, { detail: error.message, extra, errors, headers: retryAfter(retry_after_seconds) });
  }
  const code = codeOf(error);
  if (!code) return new RequestRefused('INTERNAL_ERROR', { detail: unexpected, cause: error });
  const detail = code === 'VALIDATION_FAILED' ? 'The request could not be read.' : undefined;
  return new RequestRefused(code, { detail, cause: error });
}

function retryAfter(seconds: number | undefined): Record<string, string> {
  return seconds === undefined ? {} : { 'retry-after': String(seconds) };
}

/** Turns any error into an RFC 9457 answer. An unexpected error reveals nothing but the request id. */
export function toProblem(error: unknown, requestId: string): Problem {
  const refusal = asRefusal(error);
  const row = rowOf(refusal.code);
  const { detail, headers, errors, extra } = refusal.particulars;
  return {
    code: refusal.code,
    status: row.status,
    headers: { ...retryAfter(row.retryAfterSeconds), ...headers },
    body: {
      ...extra,
      type: `urn:tribina:problem:${refusal.code}`,
      title: row.title,
      status: row.status,
      code: refusal.code,
      detail: detail ?? row.title,
      request_id: requestId,
      ...(errors && errors.length > 0 ? { errors } : {}),
    },
  };
}
