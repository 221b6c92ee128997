import { cancelSandboxIntent, confirmSandboxIntent, refundSandboxIntent } from './sandbox-intent.ts';

test.each([
  ['requires_payment', 'succeeded', 'succeeded', 'payment_intent.succeeded'],
  ['requires_payment', 'failed', 'failed', 'payment_intent.payment_failed'],
  ['requires_payment', 'abandoned', 'requires_payment', undefined],
  ['failed', 'succeeded', 'succeeded', 'payment_intent.succeeded'],
  ['failed', 'failed', 'failed', 'payment_intent.payment_failed'],
  ['failed', 'abandoned', 'failed', undefined],
  ['succeeded', 'succeeded', 'succeeded', undefined],
  ['refunded', 'succeeded', 'refunded', undefined],
] as const)(
  'a payment intent with the status %s and the outcome %s gets the status %s and sends the event %s',
  (status, outcome, becomes, event) => {
    expect(confirmSandboxIntent(status, outcome)).toEqual({ status: becomes, event });
  },
);

test.each([
  ['canceled', 'succeeded'],
  ['canceled', 'failed'],
  ['canceled', 'abandoned'],
  ['succeeded', 'failed'],
  ['succeeded', 'abandoned'],
  ['refunded', 'failed'],
] as const)('a payment intent with the status %s refuses the outcome %s', (status, outcome) => {
  expect(() => confirmSandboxIntent(status, outcome)).toThrow(expect.objectContaining({ code: 'INVALID_STATE' }));
});

test.each([
  ['requires_payment', 'canceled'],
  ['failed', 'canceled'],
  ['succeeded', undefined],
  ['canceled', undefined],
  ['refunded', undefined],
] as const)('canceling a payment intent with the status %s gives it the status %s (undefined: unchanged)', (status, becomes) => {
  expect(cancelSandboxIntent(status)).toBe(becomes);
});

test.each([
  ['the full amount', { status: 'succeeded', amountCents: 9000, refundedCents: 0 }, 9000, 'refunded'],
  ['a part', { status: 'succeeded', amountCents: 9000, refundedCents: 0 }, 4500, 'succeeded'],
  ['the remaining amount', { status: 'succeeded', amountCents: 9000, refundedCents: 4500 }, 4500, 'refunded'],
  ['more than the remaining amount', { status: 'succeeded', amountCents: 9000, refundedCents: 4500 }, 4501, undefined],
  ['nothing', { status: 'succeeded', amountCents: 9000, refundedCents: 0 }, 0, undefined],
  ['an intent that was never paid', { status: 'failed', amountCents: 9000, refundedCents: 0 }, 9000, undefined],
] as const)(
  'a refund of %s changes the status of the payment intent as listed, or is refused',
  (_, intent, amountCents, becomes) => {
    expect(refundSandboxIntent(intent, amountCents)).toBe(becomes);
  },
);
