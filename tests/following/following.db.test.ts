import { buyTicket, createMatch, eventually, openSale, type Purchase } from './purchase.ts';
import { openLoggedSystem, type LoggedSystem } from './system.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`;

let system: LoggedSystem;
let bought: Purchase;

beforeAll(async () => {
  system = await openLoggedSystem();
  bought = await buyTicket(system, {
    hold: { 'x-request-id': 'hold-a', traceparent: TRACEPARENT },
    checkout: { 'x-request-id': 'checkout-b', traceparent: TRACEPARENT },
    payment: { 'x-request-id': 'payment-c', traceparent: TRACEPARENT },
  });
}, 60_000);

afterAll(() => system.close());

/** The lines as `service: what happened`, each once, in the order of the log. */
function story(lines: readonly Record<string, unknown>[]): string[] {
  return lines.map(({ service, msg, method, route, template }) => {
    const what = msg === 'request' ? `${String(method)} ${String(route)}` : [msg, template].filter(Boolean).join(' ');
    return `${String(service)}: ${what}`;
  });
}

test('one grep for the reservation id finds the purchase from its hold to its mails and its push', () => {
  const lines = story(system.grep(bought.reservationId));
  expect(lines.slice(0, 2)).toEqual([
    'monolith: POST /api/v1/matches/:id/reservations',
    'monolith: POST /api/v1/reservations/:id/checkout',
  ]);
  expect(lines.slice(2).toSorted()).toEqual([
    'monolith: POST /api/v1/payments/webhooks/stripe',
    'monolith: payment event',
    'notification-worker: email sent order_confirmation',
    'notification-worker: email sent ticket_delivery',
    'notification-worker: push sent ticket_delivery',
  ]);
});

test('one grep for the request id of the checkout finds its order, the payment, the mails and the push', () => {
  const lines = story(system.grep('checkout-b'));
  expect(lines[0]).toBe('monolith: POST /api/v1/reservations/:id/checkout');
  expect(lines.slice(1).toSorted()).toEqual([
    'monolith: POST /api/v1/payments/webhooks/stripe',
    'monolith: payment event',
    'notification-worker: email sent order_confirmation',
    'notification-worker: email sent ticket_delivery',
    'notification-worker: push sent ticket_delivery',
  ]);
});

test('the mails and the push have the request id of the checkout, the webhook has that of the payment', () => {
  const sent = system.grep(bought.orderId).filter(({ service }) => service === 'notification-worker');
  expect(sent.map(({ request_id, order_number, reservation_id }) => ({ request_id, order_number, reservation_id }))).toEqual(
    Array.from({ length: 3 }, () => ({
      request_id: 'checkout-b',
      order_number: bought.orderNumber,
      reservation_id: bought.reservationId,
    })),
  );
  const [webhook] = system.grep('/api/v1/payments/webhooks/stripe');
  expect(webhook).toMatchObject({ request_id: 'payment-c', order_id: bought.orderId, status: 200 });
});

test('the trace of the caller is in the line of each step, across the outbox, the webhook and the jobs', () => {
  const lines = story(system.grep(TRACE));
  for (const step of [
    'monolith: POST /api/v1/matches/:id/reservations',
    'monolith: POST /api/v1/reservations/:id/checkout',
    'monolith: POST /api/v1/sandbox/payments/:intent_id/confirm',
    'monolith: POST /api/v1/payments/webhooks/stripe',
    'notification-worker: email sent order_confirmation',
    'notification-worker: email sent ticket_delivery',
    'notification-worker: push sent ticket_delivery',
  ])
    expect(lines).toContain(step);
});

test('an order stores the request id and the position in the trace of its checkout', async () => {
  const [order] = await system.rows('select request_id, traceparent from orders where id = $1', [bought.orderId]);
  expect(order).toEqual({ request_id: 'checkout-b', traceparent: expect.stringMatching(`^00-${TRACE}-[0-9a-f]{16}-01$`) });
});

test('calls to the queue service have the request id and the trace of the request that makes them', async () => {
  const { id } = await createMatch(system, { queue_required: true });
  const traceId = TRACE.replace('4', '5');
  await openSale(system, String(id), { 'x-request-id': 'open-the-sale', traceparent: `00-${traceId}-00f067aa0ba902b7-00` });
  await eventually(() => system.grep('open-the-sale').some(({ service }) => service === 'queue-service'));
  const [line] = system.grep('open-the-sale').filter(({ service }) => service === 'queue-service');
  expect(line).toMatchObject({ request_id: 'open-the-sale', trace_id: traceId, status: 204, user: null, ids: { match_id: id } });
});

test.each(['/nothing/here', '/api/v1/nothing'])('an unknown path has a line whose route is null: %s', async (path) => {
  const { origin } = new URL(system.url);
  const { status } = await fetch(`${origin}${path}`, { headers: { 'x-request-id': `unknown${path.replaceAll('/', '-')}` } });
  await eventually(() => system.grep(`unknown${path.replaceAll('/', '-')}`).length > 0);
  expect(system.grep(`unknown${path.replaceAll('/', '-')}`)).toEqual([
    expect.objectContaining({ route: null, status, msg: 'request' }),
  ]);
  expect(status).toBe(404);
});

test('no line names the fan, the address or the phone', () => {
  for (const secret of [bought.fan, 'ana@example.hr', `token-of-${bought.fan}`]) expect(system.grep(secret)).toEqual([]);
});
