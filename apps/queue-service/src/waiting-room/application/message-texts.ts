import { messageFor, positionTexts } from '../domain/fan-messages.ts';
import type { QueueState } from '../domain/fan-state.ts';
import type { QueueEntry } from './ports.ts';

/** The message `delayed`: the line cannot be read at the moment, and the fan keeps the position. */
export const DELAYED = JSON.stringify({ type: 'delayed' });

/** Renders the messages to fans as JSON text. Adds the checkout URL and the window length from the configuration. */
export class MessageTexts {
  constructor(private readonly settings: { readonly purchaseWindowMs: number; checkoutUrl(matchId: string): string }) {}

  /** The message for a fan's state. Undefined for a fan who left or was never in line: the connection is closed without a message. */
  of(entry: QueueEntry, matchId: string): string | undefined {
    const environment = {
      queue: entry.queue,
      checkoutUrl: this.settings.checkoutUrl(matchId),
      purchaseWindowMs: this.settings.purchaseWindowMs,
    };
    const message = messageFor(entry.state, environment);
    return message && JSON.stringify(message);
  }

  /** Returns a function that gives the position message for a position. It is fast for thousands of fans: see `positionTexts`. */
  ofPositions(queue: QueueState): (position: number) => string {
    return positionTexts({ queue, purchaseWindowMs: this.settings.purchaseWindowMs });
  }
}
