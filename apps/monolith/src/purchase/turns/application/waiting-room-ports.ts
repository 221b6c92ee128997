import type { Transaction } from '#application/transaction-manager';

/** An event of the waiting room: a turn begins or ends, a fan reaches the front of the line, or positions of fans have changed. */
export type WaitingRoomEvent =
  | {
      readonly kind: 'turn granted';
      readonly matchId: string;
      readonly userId: string;
      readonly sessionToken: string;
      readonly expiresAt: string;
      /** Generation of the match's Redis state that granted the turn; undefined if the event has none. */
      readonly generation: number | undefined;
      /** Join time (µs) of the queue entry that got this turn. */
      readonly placeScore: number | undefined;
    }
  | {
      readonly kind: 'turn ended';
      readonly matchId: string;
      readonly userId: string;
      readonly sessionToken: string | undefined;
      readonly reason: string;
    }
  | { readonly kind: 'front reached'; readonly matchId: string; readonly userId: string }
  | {
      readonly kind: 'joins from one address';
      readonly matchId: string;
      readonly address: string;
      readonly joins: number;
      /** The length of the line then. */
      readonly line: number;
    }
  | {
      readonly kind: 'positions';
      readonly matchId: string;
      readonly items: readonly { readonly userId: string; readonly position: number }[];
    };

/**
 * The waiting room's event streams, one for each match. Unlike pub/sub messages, their events are not lost on a broken connection.
 */
export abstract class WaitingRoomEvents {
  abstract matches(): Promise<readonly string[]>;
  abstract hasAfter(matchId: string, streamId: string): Promise<boolean>;
  /**
   * The events after `streamId`, oldest first. Invalid stream entries are skipped. `lastId`: id of the last entry read, valid or
   * not.
   */
  abstract readAfter(
    matchId: string,
    streamId: string,
    limit: number,
  ): Promise<{ events: readonly WaitingRoomEvent[]; lastId: string }>;
}

/**
 * Stores up to which position the event stream of each match is applied. A cursor advances in the transaction of the effects, so
 * only one replica applies an event.
 */
export abstract class StreamCursors {
  abstract position(matchId: string): Promise<string>;
  /** False if another replica has advanced the cursor meanwhile: then that replica has applied these events. */
  abstract advance(tx: Transaction, matchId: string, from: string, to: string): Promise<boolean>;
}

/** The effects of the waiting room's events: stored purchase windows, and pushes to fans' devices. */
export abstract class WaitingRoomConsequences {
  abstract apply(tx: Transaction, events: readonly WaitingRoomEvent[]): Promise<void>;
}
