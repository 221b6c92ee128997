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
] as const)('%s, then %s: %s, and the shop hears %s', (status, outcome, becomes, event) => {
  expect(confirmSandboxIntent(status, outcome)).toEqual({ status: becomes, event });
});

test.each([
  ['canceled', 'succeeded'],
  ['canceled', 'failed'],
  ['canceled', 'abandoned'],
  ['succeeded', 'failed'],
  ['succeeded', 'abandoned'],
  ['refunded', 'failed'],
] as const)('%s, then %s is refused', (status, outcome) => {
  expect(() => confirmSandboxIntent(status, outcome)).toThrow(expect.objectContaining({ code: 'INVALID_STATE' }));
});

test.each([
  ['requires_payment', 'canceled'],
  ['failed', 'canceled'],
  ['succeeded', undefined],
  ['canceled', undefined],
  ['refunded', undefined],
] as const)('canceling one that is %s makes it %s', (status, becomes) => {
  expect(cancelSandboxIntent(status)).toBe(becomes);
});

test.each([
  ['all of it', { status: 'succeeded', amountCents: 9000, refundedCents: 0 }, 9000, 'refunded'],
  ['a part', { status: 'succeeded', amountCents: 9000, refundedCents: 0 }, 4500, 'succeeded'],
  ['the rest', { status: 'succeeded', amountCents: 9000, refundedCents: 4500 }, 4500, 'refunded'],
  ['more than the rest', { status: 'succeeded', amountCents: 9000, refundedCents: 4500 }, 4501, undefined],
  ['nothing', { status: 'succeeded', amountCents: 9000, refundedCents: 0 }, 0, undefined],
  ['what was never paid', { status: 'failed', amountCents: 9000, refundedCents: 0 }, 9000, undefined],
] as const)('giving back %s', (_, intent, amountCents, becomes) => {
  expect(refundSandboxIntent(intent, amountCents)).toBe(becomes);
});
