import type { Clock } from '#application/clock';
import type { Delivered, OutgoingPush, Pushes } from './ports.ts';

export interface SendPushCommand extends OutgoingPush {
  /** After this the message is worthless: no turn notice after the window. */
  readonly usefulUntil?: Date;
}

/** Hands a notification to the fan's devices, once, and only while it is worth something. */
export class SendPush {
  constructor(
    private readonly pushes: Pushes,
    private readonly clock: Clock,
  ) {}

  async execute({ usefulUntil, ...push }: SendPushCommand): Promise<Delivered | 'expired'> {
    if (usefulUntil && this.clock.now() >= usefulUntil) return 'expired';
    return this.pushes.send(push);
  }
}
