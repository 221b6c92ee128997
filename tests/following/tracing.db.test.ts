import { RecordingTracer } from '#testing/recording-tracer';
import { SpanKind, trace } from '@opentelemetry/api';
import { buyTicket } from './purchase.ts';
import { openLoggedSystem, type LoggedSystem } from './system.ts';

const HOLD = 'POST /api/v1/matches/:id/reservations';
const CHECKOUT = 'POST /api/v1/reservations/:id/checkout';
const CONFIRM = 'POST /api/v1/sandbox/payments/:intent_id/confirm';
const WEBHOOK = 'POST /api/v1/payments/webhooks/stripe';

const tracer = new RecordingTracer();
let system: LoggedSystem;

beforeAll(async () => {
  trace.setGlobalTracerProvider(tracer);
  system = await openLoggedSystem();
  await buyTicket(system, { hold: {}, checkout: { 'x-request-id': 'checkout-b' }, payment: {} });
  await new Promise((resolve) => setTimeout(resolve, 200));
}, 60_000);

afterAll(async () => {
  await system.close();
  trace.disable();
});

test('with an SDK, the spans of a purchase are connected by parent ids: requests, transactions, calls, jobs', () => {
  const [hold] = tracer.named('hold in a batch');
  expect(tracer.namesAbove(hold!)).toEqual([HOLD]);

  const inCheckout = tracer.named('transaction').filter((span) => tracer.namesAbove(span)[0] === CHECKOUT);
  expect(inCheckout.length).toBeGreaterThanOrEqual(2);

  for (const name of ['process email', 'process push'])
    for (const span of tracer.named(name)) expect(tracer.namesAbove(span)).toEqual([CHECKOUT]);
  expect(tracer.named('process email')).toHaveLength(2);
  expect(tracer.named('process push')).toHaveLength(1);

  const [webhook] = tracer.named(WEBHOOK);
  expect(tracer.namesAbove(webhook!)).toEqual(['POST', 'deliver payment_intent.succeeded', CONFIRM]);
  const [settlement] = tracer.named('transaction').filter((span) => span.parentId === webhook?.context.spanId);
  expect(settlement).toBeDefined();
});

test('with an SDK, a batch of the relay is linked to the requests whose messages it delivers', () => {
  const [checkout] = tracer.named(CHECKOUT);
  const batches = tracer.named('relay email').filter(({ kind }) => kind === SpanKind.PRODUCER);
  const linked = batches.flatMap(({ links }) => links.map(({ spanId }) => spanId));
  expect(linked).toEqual([checkout!.context.spanId, checkout!.context.spanId]);
});

test('with an SDK, the span of a request has method, route, status and request id, and log lines have its trace id', () => {
  const [checkout] = tracer.named(CHECKOUT);
  expect(checkout).toMatchObject({
    kind: SpanKind.SERVER,
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/api/v1/reservations/:id/checkout',
      'http.response.status_code': 201,
      'tribina.request_id': 'checkout-b',
    },
  });
  const lines = system.grep(checkout!.context.traceId);
  expect(lines.filter(({ msg }) => msg === 'email sent' || msg === 'push sent')).toHaveLength(3);
  expect(lines[0]).toMatchObject({ request_id: 'checkout-b', status: 201 });
});

test('with an SDK, each span of the purchase has ended', () => {
  const requests = tracer.spans.filter(({ name }) => [HOLD, CHECKOUT, CONFIRM, WEBHOOK].includes(name));
  expect(requests).toHaveLength(4);
  expect(tracer.spans.filter((span) => !span.hasEnded && !span.name.startsWith('relay'))).toEqual([]);
});
