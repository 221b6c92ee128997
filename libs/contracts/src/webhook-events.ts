/** The events that partners can be told of by webhook. */
export const webhookEvents = [
  'order.completed',
  'order.refunded',
  'ticket.transferred',
  'match.cancelled',
  'quota.returned',
] as const;
export type WebhookEventType = (typeof webhookEvents)[number];
