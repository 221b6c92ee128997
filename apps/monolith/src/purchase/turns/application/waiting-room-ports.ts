import type { Transaction } from '#application/transaction-manager';

/** What the waiting room did, in our words. */
export type WaitingRoomEvent =
  | {
      readonly kind: 'turn granted';
      readonly matchId: string;
      readonly userId: string;
      readonly sessionToken: string;
      readonly expiresAt: string;
      /** Of the state in Redis that granted it; undefined where the waiting room names none. */
      readonly generation: number | undefined;
      /** Join time (µs) of the place that had this turn. */
      readonly placeScore: number | undefined;
    }
  | {
      readonly kind: 'turn over';
      readonly matchId: string;
      readonly userId: string;
      readonly sessionToken: string | undefined;
      readonly reason: string;
    }
  | { readonly kind: 'front reached'; readonly matchId: string; readonly userId: string }
  | {
      readonly kind: 'positions';
      readonly matchId: string;
      readonly items: readonly { readonly userId: string; readonly position: number }[];
    };

/** The waiting room's event streams, one a match: nothing is lost there, whatever happens to the messages. */
export abstract class WaitingRoomEvents {
  abstract matches(): Promise<readonly string[]>;
  abstract hasAfter(matchId: string, streamId: string): Promise<boolean>;
  /** Events after this one, oldest first; what cannot be read is skipped, but its place is told by `lastId`. */
  abstract readAfter(
    matchId: string,
    streamId: string,
    limit: number,
  ): Promise<{ events: readonly WaitingRoomEvent[]; lastId: string }>;
}

/** How far each stream has been read; advancing it commits with the effects, so that of N replicas one applies an event. */
export abstract class StreamCursors {
  abstract position(matchId: string): Promise<string>;
  /** False when somebody else moved it in the meantime: then they applied these events. */
  abstract advance(tx: Transaction, matchId: string, from: string, to: string): Promise<boolean>;
}

/** What an event of the waiting room means for us: windows, and pushes to those who are not looking. */
export abstract class WaitingRoomConsequences {
  abstract apply(tx: Transaction, events: readonly WaitingRoomEvent[]): Promise<void>;
}
