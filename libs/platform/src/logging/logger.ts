import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type Logger } from 'pino';
import { requestContext } from './request-context.ts';
import { stdoutLines } from './log-lines.ts';

export type { Logger } from 'pino';

/** Fields whose values are removed from every log line, up to four levels deep: credentials, tokens and personal data. */
const SECRET_FIELDS = [
  'authorization',
  'x-internal-auth',
  'x-purchase-session',
  'stripe-signature',
  'session_token',
  'queue_token',
  'fcm_token',
  'fcm_tokens',
  'client_secret',
  'confirm_url',
  'receipt',
  'email',
  'recipient',
  'holder_name',
  'code_text',
  'password',
];

const redactedPaths = SECRET_FIELDS.flatMap((field) => [`["${field}"]`, `*["${field}"]`, `*.*["${field}"]`, `*.*.*["${field}"]`]);

/** Patterns of secrets inside other text: tokens in a path or a message, passwords in a connection URL. */
const SECRET_TEXT: readonly [RegExp, string][] = [
  [/\bst_[\w-]{8,}/g, 'st_[redacted]'],
  [/\/(ws|sse)\/[^/?\s"]+/g, '/$1/[redacted]'],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, '$1 [redacted]'],
  [/(postgres(?:ql)?|rediss?):\/\/[^@\s/]*@/g, '$1://[redacted]@'],
];

/** Replaces secrets inside a text. */
export function redactText(text: string): string {
  return SECRET_TEXT.reduce((clean, [pattern, replacement]) => clean.replace(pattern, replacement), text);
}

function redactDeep(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (value instanceof Error)
    return { type: value.name, message: redactText(value.message), stack: redactText(value.stack ?? '') };
  if (value === null || typeof value !== 'object' || depth > 4) return value;
  if (Array.isArray(value)) return value.slice(0, 50).map((item) => redactDeep(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redactDeep(item, depth + 1)]));
}

/**
 * Creates a logger that writes JSON lines to stdout. Lines written during a request or a job contain its `request_id`, and its
 * `trace_id` if it is traced. Secrets are redacted.
 */
export function createLogger(options: { service: string; level: string; destination?: DestinationStream }): Logger {
  return pino(
    {
      level: options.level,
      base: { service: options.service, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (fields) => redactDeep(fields) as Record<string, unknown> },
      // Returns errors unchanged: `redactDeep` has turned them into plain objects, and pino's own serializer would replace their
      // type with "Object".
      serializers: { err: (parts: unknown) => parts },
      redact: { paths: redactedPaths, censor: '[redacted]' },
      mixin: () => {
        const context = requestContext.current();
        if (!context) return {};
        const { requestId, trace } = context;
        return trace ? { request_id: requestId, trace_id: trace.traceId } : { request_id: requestId };
      },
      hooks: {
        logMethod(inputs, method) {
          const clean = inputs.map((input) => (typeof input === 'string' ? redactText(input) : input));
          method.apply(this, clean as Parameters<typeof method>);
        },
      },
    },
    options.destination ?? stdoutLines(),
  );
}

/** Writes Nest's own messages to our logger: Nest's `log` becomes debug, its `debug` and `verbose` become trace. */
export function nestLog(logger: Logger): LoggerService {
  const writeAs =
    (level: 'error' | 'warn' | 'debug' | 'trace') =>
    (message: unknown, ...rest: unknown[]): void => {
      const [context, ...detail] = rest.toReversed();
      logger[level](detail.length > 0 ? { context, detail: detail.toReversed() } : { context }, String(message));
    };
  return {
    log: writeAs('debug'),
    error: writeAs('error'),
    warn: writeAs('warn'),
    debug: writeAs('trace'),
    verbose: writeAs('trace'),
  };
}
