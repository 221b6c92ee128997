import { RecordingTracer } from '#testing/recording-tracer';
import { context, ROOT_CONTEXT, SpanStatusCode, trace, type Context, type ContextManager } from '@opentelemetry/api';
import { AsyncLocalStorage } from 'node:async_hooks';
import { requestContext } from '../logging/request-context.ts';
import { continueFrom, currentOrigin } from './origin.ts';
import { currentTrace, inSpan, type SpanOptions } from './spans.ts';

const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', flags: '01' };
const noOptions = (): SpanOptions => ({});

/** Registers a tracer for the time of `work`. */
async function withSdk(work: (tracer: RecordingTracer) => Promise<void>): Promise<void> {
  const tracer = new RecordingTracer();
  trace.setGlobalTracerProvider(tracer);
  try {
    await work(tracer);
  } finally {
    trace.disable();
  }
}

test('spans: without an SDK the work runs without a span, and its options are not asked for', async () => {
  const options = (): SpanOptions => {
    throw new Error('asked');
  };
  expect(await inSpan('work', options, () => Promise.resolve(7))).toBe(7);
  const traced = { requestId: 'r', deadlineAt: 0, trace: CALLER };
  expect(await requestContext.run(traced, () => inSpan('work', options, () => Promise.resolve(currentTrace())))).toBe(CALLER);
});

test('spans: a span inside a span is its child, and both end', () =>
  withSdk(async (tracer) => {
    await inSpan('outer', noOptions, () => inSpan('inner', noOptions, () => Promise.resolve()));
    const [outer, inner] = tracer.spans;
    expect(inner).toMatchObject({ name: 'inner', parentId: outer?.context.spanId, hasEnded: true });
    expect(outer).toMatchObject({ name: 'outer', parentId: undefined, hasEnded: true });
  }));

test('spans: a failed span has the code of its error, but not its message', () =>
  withSdk(async (tracer) => {
    const fails = inSpan('work', noOptions, () => Promise.reject(Object.assign(new Error('canary'), { code: '40001' })));
    await expect(fails).rejects.toThrow('canary');
    expect(tracer.spans[0]).toMatchObject({
      status: SpanStatusCode.ERROR,
      attributes: { 'error.type': '40001' },
      hasEnded: true,
    });
    expect(JSON.stringify(tracer.spans)).not.toContain('canary');
  }));

test('spans: work that continues a request is the child of the span that its origin names', () =>
  withSdk(async (tracer) => {
    const origin = await inSpan('request', noOptions, () =>
      Promise.resolve(requestContext.run({ requestId: 'r', deadlineAt: 0 }, currentOrigin)),
    );
    await inSpan('relay', noOptions, () =>
      continueFrom(origin!, 'job', () => inSpan('send', noOptions, () => Promise.resolve())),
    );
    const [job, sent] = [tracer.named('job')[0]!, tracer.named('send')[0]!];
    expect(tracer.namesAbove(job)).toEqual(['request']);
    expect(tracer.namesAbove(sent)).toEqual(['job', 'request']);
  }));

test("spans: the current span of the SDK's own instrumentation is the parent", () =>
  withSdk(async (tracer) => {
    const storage = new AsyncLocalStorage<Context>();
    const manager: ContextManager = {
      active: () => storage.getStore() ?? ROOT_CONTEXT,
      with: (active, work, self, ...rest) => storage.run(active, () => work.call(self as never, ...rest)),
      bind: (_context, target) => target,
      enable: () => manager,
      disable: () => manager,
    };
    context.setGlobalContextManager(manager);
    const instrumented = tracer.startSpan('instrumented');
    const traced = { requestId: 'r', deadlineAt: 0, trace: CALLER };
    const ours = (): Promise<void> => requestContext.run(traced, () => inSpan('ours', noOptions, () => Promise.resolve()));
    await context.with(trace.setSpan(ROOT_CONTEXT, instrumented), ours).finally(() => context.disable());
    expect(tracer.namesAbove(tracer.named('ours')[0]!)).toEqual(['instrumented']);
  }));
