import type { Delivery, RelayedMessage } from '#platform/outbox/destination';

/** What an error says about a message: its own fault for ever, its own for now, or not its fault at all. */
export type Blame = 'poison' | 'failed' | 'nobody';

/**
 * Delivers each message on its own. When no one came through and nobody is to blame, the way there is broken: throwing
 * counts nothing against the rows, so that an outage of an hour parks no refund.
 */
export async function deliverEach(
  messages: readonly RelayedMessage[],
  send: (message: RelayedMessage) => Promise<void>,
  blame: (error: unknown) => Blame,
): Promise<readonly Delivery[]> {
  const results = await Promise.all(
    messages.map(async (message) => {
      try {
        await send(message);
        return { delivery: { id: message.id, outcome: 'delivered' } as Delivery };
      } catch (error) {
        const whose = blame(error);
        const reason = error instanceof Error ? error.message : String(error);
        const delivery: Delivery = { id: message.id, outcome: whose === 'poison' ? 'poison' : 'failed', error: reason };
        return { delivery, whose, error };
      }
    }),
  );
  const [first] = results;
  if (first?.error !== undefined && results.every(({ whose }) => whose === 'nobody')) throw first.error;
  return results.map(({ delivery }) => delivery);
}
