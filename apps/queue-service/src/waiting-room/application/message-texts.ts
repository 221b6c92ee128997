import { messageFor, positionTexts } from '../domain/fan-messages.ts';
import type { QueueState } from '../domain/fan-state.ts';
import type { Links, QueueEntry } from './ports.ts';

/** Nothing can be read at the moment; the fan's position is kept. */
export const DELAYED = JSON.stringify({ type: 'delayed' });

/** The messages to fans as JSON text, with what they need from the configuration. */
export class MessageTexts {
  constructor(
    private readonly links: Links,
    private readonly purchaseWindowMs: number,
  ) {}

  /** Undefined where a fan gets no message: one who has left or was never in line is only disconnected. */
  of(entry: QueueEntry, matchId: string): string | undefined {
    const surroundings = {
      queue: entry.queue,
      checkoutUrl: this.links.checkout(matchId),
      purchaseWindowMs: this.purchaseWindowMs,
    };
    const message = messageFor(entry.state, surroundings);
    return message && JSON.stringify(message);
  }

  /** The text for each position of one line. For thousands of fans: what they have in common is written once. */
  ofPositions(queue: QueueState): (position: number) => string {
    return positionTexts({ queue, purchaseWindowMs: this.purchaseWindowMs });
  }
}
