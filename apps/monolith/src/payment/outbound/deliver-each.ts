import type { Delivery, RelayedMessage } from '#messaging/outbox/destination';

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
  const results = await Promise.all(
    messages.map(async (message) => {
      try {
        await send(message);
        return { delivery: { id: message.id, outcome: 'delivered' } as Delivery };
      } catch (error) {
        const cause = causeOf(error);
        const reason = error instanceof Error ? error.message : String(error);
        const delivery: Delivery = { id: message.id, outcome: cause === 'poison' ? 'poison' : 'failed', error: reason };
        return { delivery, cause, error };
      }
    }),
  );
  const [first] = results;
  if (first?.error !== undefined && results.every(({ cause }) => cause === 'outage')) throw first.error;
  return results.map(({ delivery }) => delivery);
}
