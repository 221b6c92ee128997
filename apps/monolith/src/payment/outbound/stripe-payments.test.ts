import type { Clock } from '#application/clock';
import { toProblem } from '#platform/http/problem';
import { randomUUID } from 'node:crypto';
import { describePaymentProvider } from '../testing/payment-provider.contract.ts';
import { FakeStripe, type StripeFault } from '../testing/fake-stripe.ts';
import { StripeClient } from './stripe-client.ts';
import { StripePayments } from './stripe-payments.ts';

const peer = new FakeStripe();
let base = '';
let stripe: StripePayments;

const clock: Clock = { now: () => new Date() };
const adapter = (secretKey = peer.secretKey) =>
  new StripePayments(new StripeClient({ base, secretKey, timeoutMs: 1000 }), 'whsec_unused_here_0000000000000000', clock);

beforeAll(async () => {
  base = await peer.start();
  stripe = adapter();
});
beforeEach(() => {
  peer.faults.length = 0;
  peer.requests.length = 0;
});
afterAll(() => peer.stop());

const refundedCents = (intentId: string) =>
  Promise.resolve(
    peer.refunds.filter((refund) => refund.payment_intent === intentId).reduce((sum, { amount }) => sum + amount, 0),
  );

describePaymentProvider(
  'Stripe',
  () => ({ provider: stripe, pay: (intentId) => Promise.resolve(peer.pay(intentId)), refundedCents }),
  () => peer.faults.push('declined'),
);

const order = () => ({ orderId: randomUUID(), amountCents: 9000, currency: 'EUR' });
const providerUnavailable = expect.objectContaining({ code: 'DEPENDENCY_UNAVAILABLE' });

const faults: StripeFault[] = [
  'hang',
  'hang after the effect',
  'reset',
  'reset after the effect',
  'trickle',
  '429',
  '503 outside the API',
  'redirect',
  'not JSON',
  'other JSON',
  'huge',
];

test.each(faults)(
  'Stripe fails with "%s" while an intent is created: the fan gets 503, and the next try returns the only intent of the order',
  async (fault) => {
    const newOrder = order();
    peer.faults.push(fault);
    const failed = stripe.createIntent(newOrder);
    await expect(failed).rejects.toThrow(providerUnavailable);
    expect(toProblem(await failed.catch((error: unknown) => error), 'r').status).toBe(503);
    const { intentId } = await stripe.createIntent(newOrder);
    const ofOrder = [...peer.intents.values()].filter(({ metadata }) => metadata.order_id === newOrder.orderId);
    expect(ofOrder.map(({ id }) => id)).toEqual([intentId]);
  },
);

test.each(faults)('Stripe fails with "%s" during a refund: after the next try the money is refunded once', async (fault) => {
  const { intentId } = await stripe.createIntent(order());
  peer.pay(intentId);
  peer.faults.push(undefined, fault);
  const refund = { intentId, amountCents: 9000, key: randomUUID() };
  await expect(stripe.refund(refund)).rejects.toThrow(providerUnavailable);
  await stripe.refund(refund);
  expect(await refundedCents(intentId)).toBe(9000);
});

test('an error that Stripe replays for the same idempotency key has isOnlyThisCall: true, an outage has false', async () => {
  const { intentId } = await stripe.createIntent(order());
  peer.pay(intentId);
  peer.faults.push(undefined, '500');
  const refund = { intentId, amountCents: 9000, key: randomUUID() };
  await expect(stripe.refund(refund)).rejects.toThrow(expect.objectContaining({ isOnlyThisCall: false }));
  await expect(stripe.refund(refund)).rejects.toThrow(expect.objectContaining({ isOnlyThisCall: true }));
  peer.forgetKeys();
  await stripe.refund(refund);
  expect(await refundedCents(intentId)).toBe(9000);
});

test('a refund repeated after Stripe has forgotten its idempotency key is found by its metadata', async () => {
  const { intentId } = await stripe.createIntent(order());
  peer.pay(intentId);
  const refund = { intentId, amountCents: 4500, key: randomUUID() };
  await stripe.refund(refund);
  peer.forgetKeys();
  await stripe.refund(refund);
  expect(await refundedCents(intentId)).toBe(4500);
});

test('a refund counts as done if all of it was already refunded by hand at Stripe', async () => {
  const { intentId } = await stripe.createIntent(order());
  peer.pay(intentId);
  peer.refunds.push({ id: 're_hand', status: 'succeeded', amount: 9000, payment_intent: intentId, metadata: {} });
  await stripe.refund({ intentId, amountCents: 9000, key: randomUUID() });
  expect(await refundedCents(intentId)).toBe(9000);
});

test('a refund that failed at the bank throws and does not count as done', async () => {
  const { intentId } = await stripe.createIntent(order());
  peer.pay(intentId);
  const key = randomUUID();
  peer.refunds.push({ id: 're_failed', status: 'failed', amount: 0, payment_intent: intentId, metadata: { refund_key: key } });
  await expect(stripe.refund({ intentId, amountCents: 9000, key })).rejects.toThrow('refund re_failed is failed');
});

test('a redirect from Stripe is not followed', async () => {
  peer.faults.push('redirect');
  await expect(stripe.createIntent(order())).rejects.toThrow(providerUnavailable);
  expect(peer.requests).toEqual(['POST /v1/payment_intents']);
});

test('a wrong Stripe secret key is DEPENDENCY_UNAVAILABLE for the fan, and the key is in no error message', async () => {
  const failed = await adapter('sk_live_wrong')
    .createIntent(order())
    .catch((error: unknown) => error as Error);
  expect(failed).toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE', message: 'POST payment_intents: 401 invalid_request_error' });
});

test.each<[string, { amountCents?: number; currency?: string }, StripeFault | undefined, string]>([
  ['an amount that is too small', { amountCents: 49 }, undefined, 'amount_too_small'],
  ['an amount that is too large', { amountCents: 100_000_000 }, undefined, 'amount_too_large'],
  ['an unsupported currency', { currency: 'KUNA' }, undefined, 'parameter_invalid_empty'],
  ['a card that is declined', {}, 'declined', 'card_declined'],
])('%s: Stripe refuses the intent, and the fan gets 402 with Stripe’s code', async (_, change, fault, reason) => {
  if (fault) peer.faults.push(fault);
  const refused = await stripe.createIntent({ ...order(), ...change }).catch((error: unknown) => error);
  expect(toProblem(refused, 'r')).toMatchObject({ status: 402, body: { code: 'PAYMENT_REFUSED', reason } });
});

test.each<StripeFault>(['404', '400 outside the API'])(
  'the answer "%s" when an intent is created is DEPENDENCY_UNAVAILABLE, not a refused payment',
  async (fault) => {
    peer.faults.push(fault);
    await expect(stripe.createIntent(order())).rejects.toThrow(providerUnavailable);
  },
);

test('a closed port at Stripe’s address is DEPENDENCY_UNAVAILABLE', async () => {
  const unreachable = new StripePayments(new StripeClient({ base: 'http://127.0.0.1:9', secretKey: 'sk' }), 'whsec', clock);
  await expect(unreachable.createIntent(order())).rejects.toThrow(providerUnavailable);
});
