import { DomainError } from '#domain/shared/domain-error';

/*
 * The states of a payment intent in our own sandbox.
 *
 *   requires_payment ──succeeded──▶ succeeded ──refunded in full──▶ refunded
 *    │        └──failed──▶ failed ──succeeded──▲   (a failed payment may be tried again)
 *    └──canceled──▶ canceled ◀──canceled──┘
 */
export type SandboxIntentStatus = 'requires_payment' | 'failed' | 'succeeded' | 'canceled' | 'refunded';
/** What a fan can choose on the sandbox's payment page. */
export type SandboxOutcome = 'succeeded' | 'failed' | 'abandoned';
export type SandboxEventType = 'payment_intent.succeeded' | 'payment_intent.payment_failed';

/** A payment intent of the sandbox: the one payment that a fan makes for an order. */
export interface SandboxIntent {
  readonly id: string;
  readonly orderId: string;
  readonly amountCents: number;
  readonly currency: string;
  readonly status: SandboxIntentStatus;
  readonly clientSecret: string;
}

export type NewSandboxIntent = Omit<SandboxIntent, 'status'>;

interface SandboxConfirmation {
  readonly status: SandboxIntentStatus;
  /** The event to send to the shop. Undefined if nothing changed. */
  readonly event: SandboxEventType | undefined;
}

/** The new status of the intent after the fan's choice. Throws INVALID_STATE if the choice is not possible. */
export function confirmSandboxIntent(status: SandboxIntentStatus, outcome: SandboxOutcome): SandboxConfirmation {
  const isPaid = status === 'succeeded' || status === 'refunded';
  if (status === 'canceled') throw new DomainError('INVALID_STATE', 'This payment was canceled.');
  if (isPaid && outcome !== 'succeeded') throw new DomainError('INVALID_STATE', 'This payment has already succeeded.');
  if (isPaid || outcome === 'abandoned') return { status, event: undefined };
  return outcome === 'succeeded'
    ? { status: 'succeeded', event: 'payment_intent.succeeded' }
    : { status: 'failed', event: 'payment_intent.payment_failed' };
}

/**
 * The new status of the intent after a cancellation. Undefined if the intent cannot be canceled any more, which is not an error.
 */
export function cancelSandboxIntent(status: SandboxIntentStatus): SandboxIntentStatus | undefined {
  return status === 'requires_payment' || status === 'failed' ? 'canceled' : undefined;
}

/**
 * The new status of the intent after a refund. Undefined if the refund is not allowed, for example because it exceeds what was
 * paid.
 */
export function refundSandboxIntent(
  intent: { status: SandboxIntentStatus; amountCents: number; refundedCents: number },
  amountCents: number,
): SandboxIntentStatus | undefined {
  const rest = intent.amountCents - intent.refundedCents;
  if (intent.status !== 'succeeded' || amountCents <= 0 || amountCents > rest) return undefined;
  return amountCents === rest ? 'refunded' : 'succeeded';
}
