import { deadTokens, DEVICES_DESTINATION } from '#contracts/dead-tokens';
import type { Delivery, Destination, RelayedMessage } from '#messaging/outbox/destination';
import type { DataSource } from 'typeorm';

/**
 * Deletes devices with a dead push token, which the notification worker reports when a push fails. A repeated message has no
 * further effect.
 */
export class DeadTokensDestination implements Destination {
  readonly name = DEVICES_DESTINATION;
  readonly batchSize = 100;

  constructor(private readonly dataSource: DataSource) {}

  async deliver(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]> {
    const deliveries: Delivery[] = [];
    for (const { id, body } of messages) {
      const parsed = deadTokens.safeParse(body);
      if (!parsed.success) {
        deliveries.push({ id, outcome: 'poison', error: 'not a list of dead tokens' });
        continue;
      }
      // A device that registered after the token was found dead is kept: the app is in use.
      await this.dataSource.query('delete from devices where fcm_token = any($1::text[]) and updated_at < $2', [
        parsed.data.fcm_tokens,
        parsed.data.found_at,
      ]);
      deliveries.push({ id, outcome: 'delivered' });
    }
    return deliveries;
  }
}
