import {
  context as otelContext,
  ProxyTracerProvider,
  SpanKind,
  SpanStatusCode,
  trace as otelTrace,
  type Attributes,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { AsyncLocalStorage } from 'node:async_hooks';
import { requestContext } from '../logging/request-context.ts';
import type { TracePosition } from './traceparent.ts';

export { SpanKind } from '@opentelemetry/api';

/*
 * Spans for OpenTelemetry. We only call its API: spans exist when an operator preloads an SDK. Without an SDK no span and no promise
 * is made, and a `traceparent` of the caller is continued all the same.
 */

const NAME = 'tribina';
/** The limit of OpenTelemetry's own SDKs, which drop further links. */
const MAX_LINKS = 128;

/** What a span tells about its work. */
export interface SpanOptions {
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  /** The position before this span, if it is not the current one. */
  readonly parent?: TracePosition | undefined;
  /** Positions in other traces that this work is also done for, for example those of the messages in a batch. */
  readonly links?: readonly (TracePosition | undefined)[];
}

/** The position inside the innermost span of `inSpan`. Used only while an SDK is registered. */
const currentSpan = new AsyncLocalStorage<TracePosition>();

/** The tracer of the registered SDK. Asked for each span, because an SDK may register at any time. */
function registeredTracer(): Tracer | undefined {
  const provider = otelTrace.getTracerProvider();
  return provider instanceof ProxyTracerProvider ? provider.getDelegateTracer(NAME) : provider.getTracer(NAME);
}

/** The position in the trace of the code that runs now. Undefined if it is not traced. */
export function currentTrace(): TracePosition | undefined {
  return currentSpan.getStore() ?? requestContext.current()?.trace;
}

/**
 * Runs `work` in a span, if an SDK is registered. The span ends with the promise, and has the status `error` if it rejects.
 * `options` is called only if there is a span.
 */
export function inSpan<T>(name: string, options: () => SpanOptions, work: () => Promise<T>): Promise<T> {
  const tracer = registeredTracer();
  return tracer === undefined ? work() : runInSpan(tracer, name, options(), work);
}

async function runInSpan<T>(tracer: Tracer, name: string, options: SpanOptions, work: () => Promise<T>): Promise<T> {
  const { span, position, context } = startSpan(tracer, name, options);
  try {
    return await otelContext.with(context, () => currentSpan.run(position, work));
  } catch (error) {
    fail(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** The span of an HTTP request that this service answers. */
export interface RequestSpan {
  readonly position: TracePosition;
  /** Runs a part of the request with this span as the current one of the SDK. */
  run(work: () => void): void;
  end(status: number): void;
}

/** Starts the span of a request, if an SDK is registered. `caller` is the position that its `traceparent` names. */
export function startRequestSpan(
  method: string,
  route: string | undefined,
  requestId: string,
  caller: TracePosition | undefined,
): RequestSpan | undefined {
  const tracer = registeredTracer();
  if (!tracer) return undefined;
  // A server span of the SDK's own HTTP instrumentation has continued the trace of the caller already.
  const parent = otelTrace.getSpan(otelContext.active()) ? undefined : caller;
  const attributes: Attributes = { 'http.request.method': method, 'tribina.request_id': requestId };
  if (route !== undefined) attributes['http.route'] = route;
  const name = route === undefined ? method : `${method} ${route}`;
  const { span, position, context } = startSpan(tracer, name, { kind: SpanKind.SERVER, attributes, parent });
  return {
    position,
    run: (work) => otelContext.with(context, work),
    end: (status) => {
      span.setAttribute('http.response.status_code', status);
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

function startSpan(
  tracer: Tracer,
  name: string,
  { kind, attributes, parent, links = [] }: SpanOptions,
): { readonly span: Span; readonly position: TracePosition; readonly context: Context } {
  const active = otelContext.active();
  // A span of the SDK's own instrumentation, for example of `pg`, is nearer than ours.
  const before = parent ?? (otelTrace.getSpan(active) ? undefined : currentTrace());
  const parentContext = before ? otelTrace.setSpanContext(active, spanContextOf(before)) : active;
  const linked = links.slice(0, MAX_LINKS).flatMap((position) => (position ? { context: spanContextOf(position) } : []));
  const span = tracer.startSpan(name, { kind, attributes, links: linked }, parentContext);
  const { traceId, spanId, traceFlags } = span.spanContext();
  const flags = traceFlags.toString(16).padStart(2, '0');
  return { span, position: { traceId, spanId, flags }, context: otelTrace.setSpan(parentContext, span) };
}

function spanContextOf({ traceId, spanId, flags }: TracePosition) {
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}

/** Only the name and code of the error: its message may contain a secret. */
function fail(span: Span, error: unknown): void {
  const { name = 'Error', code } = (error ?? {}) as { name?: string; code?: unknown };
  span.setAttribute('error.type', typeof code === 'string' ? code : name);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
