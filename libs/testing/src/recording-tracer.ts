import {
  trace,
  type Attributes,
  type Context,
  type Span,
  type SpanContext,
  type SpanOptions,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api';
import { randomBytes } from 'node:crypto';

/** A span that `RecordingTracer` has started. */
export interface RecordedSpan {
  readonly name: string;
  readonly kind: number | undefined;
  readonly context: SpanContext;
  /** The span id of the parent, which may be in another process. */
  readonly parentId: string | undefined;
  readonly links: readonly SpanContext[];
  readonly attributes: Attributes;
  status: number;
  hasEnded: boolean;
}

/** Stands in for an OpenTelemetry SDK in tests: implements the tracing API and keeps all spans in memory. */
export class RecordingTracer implements TracerProvider, Tracer {
  readonly spans: RecordedSpan[] = [];

  getTracer(): Tracer {
    return this;
  }

  startSpan(name: string, options: SpanOptions = {}, context?: Context): Span {
    const parent = context && trace.getSpanContext(context);
    const span: RecordedSpan = {
      name,
      kind: options.kind,
      context: {
        traceId: parent?.traceId ?? randomBytes(16).toString('hex'),
        spanId: randomBytes(8).toString('hex'),
        traceFlags: 1,
      },
      parentId: parent?.spanId,
      links: (options.links ?? []).map((link) => link.context),
      attributes: { ...options.attributes },
      status: 0,
      hasEnded: false,
    };
    this.spans.push(span);
    return asSpan(span);
  }

  startActiveSpan(): never {
    throw new Error('not used');
  }

  /** The names of the spans above `span`, nearest first. */
  namesAbove(span: RecordedSpan): string[] {
    const parent = this.spans.find(({ context }) => context.spanId === span.parentId);
    return parent ? [parent.name, ...this.namesAbove(parent)] : [];
  }

  named(name: string): RecordedSpan[] {
    return this.spans.filter((span) => span.name === name);
  }
}

function asSpan(recorded: RecordedSpan): Span {
  const span = {
    spanContext: () => recorded.context,
    setAttribute: (key: string, value: Attributes[string]) => {
      recorded.attributes[key] = value;
      return span;
    },
    setStatus: ({ code }: { code: number }) => {
      recorded.status = code;
      return span;
    },
    end: () => {
      if (recorded.hasEnded) throw new Error(`the span ${recorded.name} ended twice`);
      recorded.hasEnded = true;
    },
  };
  return span as unknown as Span;
}
