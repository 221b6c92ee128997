import { isFresh, parseSignatureHeader, SIGNATURE_TOLERANCE_SECONDS } from '../domain/webhook-signature.ts';
import { RequestRefused } from '#platform/http/request-refused';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { PaymentEvent } from '../payment.api.ts';

const envelope = z.object({
  id: z.string().min(1).max(255),
  type: z.string().min(1).max(255),
  data: z.object({ object: z.unknown() }),
});

const paymentIntent = z.object({
  id: z.string().min(1).max(255),
  amount: z.int().min(0),
  amount_received: z.int().min(0).optional(),
  currency: z.string().length(3),
  metadata: z.object({ order_id: z.guid().optional() }).optional().catch(undefined),
});

const outcomes: ReadonlyMap<string, 'succeeded' | 'failed' | 'canceled'> = new Map([
  ['payment_intent.succeeded', 'succeeded'],
  ['payment_intent.payment_failed', 'failed'],
  ['payment_intent.canceled', 'canceled'],
]);

function macOf(secret: string, timestamp: number, body: Buffer): Buffer {
  return createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest();
}

/** Returns the `Stripe-Signature` header of a message that is sent now. */
export function signWebhook(body: Buffer, secret: string, now: Date): string {
  const timestamp = Math.floor(now.getTime() / 1000);
  return `t=${timestamp},v1=${macOf(secret, timestamp, body).toString('hex')}`;
}

function refused(detail: string): RequestRefused {
  return new RequestRefused('VALIDATION_FAILED', { detail });
}

/** Reads a webhook of the payment provider. Checks the signature over the raw bytes before it parses them. */
export function readWebhook(incoming: {
  rawBody: Buffer;
  signature: string | undefined;
  secret: string;
  now: Date;
}): PaymentEvent {
  const { rawBody, signature, secret, now } = incoming;
  if (!signature) throw refused('The signature is missing.');
  const parsed = parseSignatureHeader(signature);
  if (!parsed) throw refused('The signature is malformed.');
  const expected = macOf(secret, parsed.timestamp, rawBody);
  // `some` stops at the first match. Its timing reveals only which of the sender's signatures is valid, nothing about our secret.
  if (!parsed.v1.some((given) => timingSafeEqual(Buffer.from(given, 'hex'), expected)))
    throw refused('The signature does not fit the body.');
  if (!isFresh(parsed.timestamp, now.getTime()))
    throw refused(`The signature is more than ${SIGNATURE_TOLERANCE_SECONDS} seconds away from now.`);
  return readEvent(asJson(rawBody));
}

/** Parses an event of the payment provider that is known to be authentic. Throws VALIDATION_FAILED if it is malformed. */
export function readEvent(given: unknown): PaymentEvent {
  const event = envelope.safeParse(given);
  if (!event.success) throw refused('The body is not an event.');
  const { id, type, data } = event.data;
  const outcome = outcomes.get(type);
  if (!outcome) return { eventId: id, type, intentId: undefined, outcome: 'other', amountCents: undefined, currency: undefined };
  const intent = paymentIntent.safeParse(data.object);
  if (!intent.success) throw refused('The event does not carry a payment intent.');
  const { amount, amount_received: received = amount, currency, metadata } = intent.data;
  return {
    eventId: id,
    type,
    intentId: intent.data.id,
    outcome,
    amountCents: outcome === 'succeeded' ? received : amount,
    currency: currency.toUpperCase(),
    ...(metadata?.order_id ? { orderId: metadata.order_id.toLowerCase() } : {}),
  };
}

function asJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw refused('The body is not JSON.');
  }
}
