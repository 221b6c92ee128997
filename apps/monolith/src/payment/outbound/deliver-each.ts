import { deliverFromOrigin, type Delivery, type RelayedMessage } from '#messaging/outbox/destination';

/**
 * The cause of a failed delivery. `poison`: this message can never succeed. `failed`: this message failed and may succeed later.
 * `outage`: the receiver is down, which is not the message's fault.
 */
export type FailureCause = 'poison' | 'failed' | 'outage';

/**
 * Delivers each message on its own. If all messages fail because of an outage, it throws: the relay then counts no failed attempt
 * for any of them, so that an outage of an hour parks no refund.
 */
export async function deliverEach(
  messages: readonly RelayedMessage[],
  send: (message: RelayedMessage) => Promise<void>,
  causeOf: (error: unknown) => FailureCause,
): Promise<readonly Delivery[]> {
  const results = await Promise.allSettled(messages.map((message) => deliverFromOrigin(message, () => send(message))));
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  if (errors.length > 0 && errors.length === messages.length && errors.every((error) => causeOf(error) === 'outage'))
    throw errors[0];
  return messages.map(({ id }, index): Delivery => {
    const result = results[index]!;
    if (result.status === 'fulfilled') return { id, outcome: 'delivered' };
    const reason: unknown = result.reason;
    const error = reason instanceof Error ? reason.message : String(reason);
    return { id, outcome: causeOf(reason) === 'poison' ? 'poison' : 'failed', error };
  });
}
