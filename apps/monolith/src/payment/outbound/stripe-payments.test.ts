import type { Clock } from '#application/clock';
import { toProblem } from '#platform/http/problem';
import { randomUUID } from 'node:crypto';
import { describePaymentProvider } from '../testing/payment-provider.contract.ts';
import { StripePeer, type Fault } from '../testing/stripe-peer.ts';
import { StripeClient } from './stripe-client.ts';
import { StripePayments } from './stripe-payments.ts';

const peer = new StripePeer();
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

const returnedCents = (intentId: string) =>
  Promise.resolve(
    peer.refunds.filter((refund) => refund.payment_intent === intentId).reduce((sum, { amount }) => sum + amount, 0),
  );

describePaymentProvider('Stripe', () => ({
  provider: stripe,
  pay: (intentId) => Promise.resolve(peer.pay(intentId)),
  returnedCents,
}));

const order = () => ({ orderId: randomUUID(), amountCents: 9000, currency: 'EUR' });
const away = expect.objectContaining({ code: 'DEPENDENCY_UNAVAILABLE' });

const faults: Fault[] = [
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
  '%s while an intent is made: 503 for the fan, and the next try has the one intent of the order',
  async (fault) => {
    const wanted = order();
    peer.faults.push(fault);
    const failed = stripe.createIntent(wanted);
    await expect(failed).rejects.toThrow(away);
    expect(toProblem(await failed.catch((error: unknown) => error), 'r').status).toBe(503);
    const { intentId } = await stripe.createIntent(wanted);
    const ofOrder = [...peer.intents.values()].filter(({ metadata }) => metadata.order_id === wanted.orderId);
    expect(ofOrder.map(({ id }) => id)).toEqual([intentId]);
  },
);

test.each(faults)('%s while money is given back: it is given back once by the next try', async (fault) => {
  const { intentId } = await stripe.createIntent(order());
  peer.pay(intentId);
  peer.faults.push(undefined, fault);
  const refund = { intentId, amountCents: 9000, key: randomUUID() };
  await expect(stripe.refund(refund)).rejects.toThrow(away);
  await stripe.refund(refund);
  expect(await returnedCents(intentId)).toBe(9000);
});

test('a failure that Stripe keeps repeating for its key is told apart from an outage', async () => {
  const { intentId } = await stripe.createIntent(order());
  peer.pay(intentId);
  peer.faults.push(undefined, '500');
  const refund = { intentId, amountCents: 9000, key: randomUUID() };
  await expect(stripe.refund(refund)).rejects.toThrow(expect.objectContaining({ onlyThisCall: false }));
  await expect(stripe.refund(refund)).rejects.toThrow(expect.objectContaining({ onlyThisCall: true }));
  peer.forgetKeys();
  await stripe.refund(refund);
  expect(await returnedCents(intentId)).toBe(9000);
});

test('a refund repeated after Stripe has forgotten its key is found by what it was marked with', async () => {
  const { intentId } = await stripe.createIntent(order());
  peer.pay(intentId);
  const refund = { intentId, amountCents: 4500, key: randomUUID() };
  await stripe.refund(refund);
  peer.forgetKeys();
  await stripe.refund(refund);
  expect(await returnedCents(intentId)).toBe(4500);
});

test('a refund somebody made by hand at Stripe counts as made', async () => {
  const { intentId } = await stripe.createIntent(order());
  peer.pay(intentId);
  peer.refunds.push({ id: 're_hand', status: 'succeeded', amount: 9000, payment_intent: intentId, metadata: {} });
  await stripe.refund({ intentId, amountCents: 9000, key: randomUUID() });
  expect(await returnedCents(intentId)).toBe(9000);
});

test('a refund that failed at the bank is refused, not taken for made', async () => {
  const { intentId } = await stripe.createIntent(order());
  peer.pay(intentId);
  const key = randomUUID();
  peer.refunds.push({ id: 're_failed', status: 'failed', amount: 0, payment_intent: intentId, metadata: { refund_key: key } });
  await expect(stripe.refund({ intentId, amountCents: 9000, key })).rejects.toThrow('refund re_failed is failed');
});

test('a redirect is not followed', async () => {
  peer.faults.push('redirect');
  await expect(stripe.createIntent(order())).rejects.toThrow(away);
  expect(peer.requests).toEqual(['POST /v1/payment_intents']);
});

test('a wrong key of ours is an outage to the fan and stands in no message', async () => {
  const failed = await adapter('sk_live_wrong')
    .createIntent(order())
    .catch((error: unknown) => error as Error);
  expect(failed).toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE', message: 'POST payment_intents: 401 invalid_request_error' });
});

test.each<[string, { amountCents?: number; currency?: string }, Fault | undefined, string]>([
  ['an amount that is too small', { amountCents: 49 }, undefined, 'amount_too_small'],
  ['an amount that is too large', { amountCents: 100_000_000 }, undefined, 'amount_too_large'],
  ['a currency it does not take', { currency: 'KUNA' }, undefined, 'parameter_invalid_empty'],
  ['a card that is declined', {}, 'declined', 'card_declined'],
])('%s: Stripe refuses the intent, which is 402 with its code for the fan', async (_, change, fault, reason) => {
  if (fault) peer.faults.push(fault);
  const refused = await stripe.createIntent({ ...order(), ...change }).catch((error: unknown) => error);
  expect(toProblem(refused, 'r')).toMatchObject({ status: 402, body: { code: 'PAYMENT_REFUSED', reason } });
});

test.each<Fault>(['404', '400 outside the API'])(
  '%s for an intent is not a refusal of the payment but an outage',
  async (fault) => {
    peer.faults.push(fault);
    await expect(stripe.createIntent(order())).rejects.toThrow(away);
  },
);

test('nobody listening is an outage', async () => {
  const nowhere = new StripePayments(new StripeClient({ base: 'http://127.0.0.1:9', secretKey: 'sk' }), 'whsec', clock);
  await expect(nowhere.createIntent(order())).rejects.toThrow(away);
});
