import type { Clock } from '#application/clock';
import type { Delivered, OutgoingPush, Pushes } from './ports.ts';

/** Hands a notification to devices, once, and only while it is worth something: no turn notice after the window. */
export class SendPush {
  constructor(
    private readonly pushes: Pushes,
    private readonly clock: Clock,
  ) {}

  async execute(push: OutgoingPush): Promise<Delivered | { readonly outcome: 'expired' }> {
    if (push.usefulUntil && this.clock.now() >= push.usefulUntil) return { outcome: 'expired' };
    return this.pushes.send(push);
  }

  /** What is in hand is put down at the next chance, noted, for another worker. */
  stop(): void {
    this.pushes.stop();
  }
}
