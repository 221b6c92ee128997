import type { Clock } from '#application/clock';
import type { SendOutcome, OutgoingPush, Pushes } from './ports.ts';

/**
 * Sends a notification to devices once. After `usefulUntil` the notification is dropped, for example "your turn" after the end of
 * the turn.
 */
export class SendPush {
  constructor(
    private readonly pushes: Pushes,
    private readonly clock: Clock,
  ) {}

  async execute(push: OutgoingPush): Promise<SendOutcome | { readonly outcome: 'expired' }> {
    if (push.usefulUntil && this.clock.now() >= push.usefulUntil) return { outcome: 'expired' };
    return this.pushes.send(push);
  }

  /**
   * Ends the sends of this worker: each stops after its current group of devices, with its progress stored, and another worker
   * continues it.
   */
  stop(): void {
    this.pushes.stop();
  }
}
