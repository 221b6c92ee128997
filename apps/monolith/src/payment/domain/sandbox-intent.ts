import { DomainError } from '#domain/shared/domain-error';

/*
 * A payment at our own sandbox.
 *
 *   requires_payment ──succeeded──▶ succeeded ──all of it given back──▶ refunded
 *    │        └──failed──▶ failed ──succeeded──▲   (a failed payment may be tried again)
 *    └──given up──▶ canceled ◀──given up──┘
 */
export type SandboxIntentStatus = 'requires_payment' | 'failed' | 'succeeded' | 'canceled' | 'refunded';
export const sandboxOutcomes = ['succeeded', 'failed', 'abandoned'] as const;
export type SandboxOutcome = (typeof sandboxOutcomes)[number];
export type SandboxEventType = 'payment_intent.succeeded' | 'payment_intent.payment_failed';

interface SandboxConfirmation {
  readonly status: SandboxIntentStatus;
  /** What the shop is told; undefined: nothing happened, or it has been told. */
  readonly event: SandboxEventType | undefined;
}

/** What the fan's choice makes of the intent. */
export function confirmSandboxIntent(status: SandboxIntentStatus, outcome: SandboxOutcome): SandboxConfirmation {
  const isPaid = status === 'succeeded' || status === 'refunded';
  if (status === 'canceled') throw new DomainError('INVALID_STATE', 'This payment was canceled.');
  if (isPaid && outcome !== 'succeeded') throw new DomainError('INVALID_STATE', 'This payment has already succeeded.');
  if (isPaid || outcome === 'abandoned') return { status, event: undefined };
  return outcome === 'succeeded'
    ? { status: 'succeeded', event: 'payment_intent.succeeded' }
    : { status: 'failed', event: 'payment_intent.payment_failed' };
}

/** Undefined: there is nothing to cancel any more, which is no fault of who asks. */
export function cancelSandboxIntent(status: SandboxIntentStatus): SandboxIntentStatus | undefined {
  return status === 'requires_payment' || status === 'failed' ? 'canceled' : undefined;
}

/** Undefined: not allowed. Never more than was paid, whatever is asked. */
export function refundSandboxIntent(
  intent: { status: SandboxIntentStatus; amountCents: number; refundedCents: number },
  amountCents: number,
): SandboxIntentStatus | undefined {
  const rest = intent.amountCents - intent.refundedCents;
  if (intent.status !== 'succeeded' || amountCents <= 0 || amountCents > rest) return undefined;
  return amountCents === rest ? 'refunded' : 'succeeded';
}
