import { type ConnectionEnd, QueueConnection } from '../../../../libs/queue-client/src/queue-connection.ts';
import { positionAsMessage } from '../../../../libs/queue-client/src/queue-messages.ts';
import { asProblem, Problem } from '../api/problem.ts';
import { serverNow } from '../api/server-clock.ts';
import type { Tribina } from '../api/tribina.ts';
import type { QueueEntry } from '../api/types.ts';
import type { Memory } from '../purchase-memory.ts';
import { beforeAsking, nextState, type RoomEvent, type RoomState } from './room-state.ts';
import { onWake } from './on-wake.ts';

/** A token nobody knows right after joining would make us join for ever; after three in a row the fan decides. */
const rejoinsInARow = 3;

/** The line of one match as this fan sees it: asks, joins, leaves, and keeps the connection while there is a place or a turn. */
export class WaitingRoom {
  private state: RoomState = beforeAsking;
  private readonly watchers = new Set<() => void>();
  private connection: QueueConnection | undefined;
  private rejoin: ReturnType<typeof setTimeout> | undefined;
  private rejoins = 0;

  constructor(
    private readonly matchId: string,
    private readonly tribina: Tribina,
    private readonly memory: Memory,
  ) {}

  readonly snapshot = (): RoomState => this.state;

  readonly watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  /** Are we in line already, perhaps from another device? Never joins. */
  readonly look = async (signal?: AbortSignal): Promise<void> => {
    try {
      const place = await this.tribina.queueEntry(this.matchId, signal);
      if (!signal?.aborted) this.enter(place);
    } catch (caught) {
      if (signal?.aborted) return;
      const problem = asProblem(caught);
      if (this.resumeKnownTurn()) return;
      this.apply(problem.status === 404 ? { type: 'not_in_line' } : { type: 'failed', problem });
    }
  };

  readonly join = async (): Promise<void> => {
    clearTimeout(this.rejoin);
    this.apply({ type: 'asked' });
    try {
      this.enter(await this.joinWithReceipt());
    } catch (caught) {
      this.apply({ type: 'failed', problem: asProblem(caught) });
    }
  };

  readonly leave = async (): Promise<void> => {
    this.apply({ type: 'asked' });
    try {
      await this.tribina.leaveQueue(this.matchId);
      this.disconnect();
      this.memory.change(this.matchId, { receipt: undefined });
      this.apply({ type: 'over', why: 'left' });
    } catch (caught) {
      this.apply({ type: 'failed', problem: asProblem(caught) });
    }
  };

  /** The monolith refused the session: forget it and ask the waiting room for the truth. */
  readonly distrustTurn = (): void => {
    this.memory.writeTurn(this.matchId, undefined);
    void this.look();
  };

  readonly disconnect = (): void => {
    clearTimeout(this.rejoin);
    this.connection?.stop();
    this.connection = undefined;
  };

  private async joinWithReceipt(): Promise<QueueEntry> {
    const { receipt } = this.memory.read(this.matchId);
    try {
      return await this.tribina.joinQueue(this.matchId, receipt);
    } catch (caught) {
      // A receipt of an earlier line is worth nothing any more; without it one joins like everybody else.
      if (!receipt || !(caught instanceof Problem) || caught.code !== 'VALIDATION_FAILED') throw caught;
      this.memory.change(this.matchId, { receipt: undefined });
      return this.tribina.joinQueue(this.matchId);
    }
  }

  private enter(place: QueueEntry): void {
    this.disconnect();
    if (place.receipt) this.memory.change(this.matchId, { receipt: place.receipt });
    this.apply({ type: 'heard', message: positionAsMessage(place) });
    const inside = place.status === 'waiting' || place.status === 'granted';
    if (!inside || !place.websocket_url || !place.sse_url) return;
    const connection = new QueueConnection(
      {
        websocketUrl: place.websocket_url,
        sseUrl: place.sse_url,
        readPosition: (signal) => this.tribina.queueEntry(this.matchId, signal),
      },
      {
        message: (message) => {
          this.rejoins = 0;
          this.apply({ type: 'heard', message });
        },
        link: (link) => this.apply({ type: 'linked', link }),
        over: (why) => this.connectionOver(why),
      },
      { onWake },
    );
    this.connection = connection;
    connection.start();
  }

  private connectionOver(why: ConnectionEnd): void {
    this.connection = undefined;
    if (why === 'ended') return;
    if (why !== 'rejoin') return this.apply({ type: 'over', why });
    if (this.rejoins >= rejoinsInARow) return this.apply({ type: 'over', why: 'refused' });
    this.rejoins += 1;
    this.rejoin = setTimeout(() => void this.join(), Math.random() * 1000 * 2 ** this.rejoins);
  }

  /** The monolith honours a window it knows even when the waiting room is down or has forgotten it (CONTRACT §6). */
  private resumeKnownTurn(): boolean {
    const turn = this.memory.readTurn(this.matchId);
    if (!turn || Date.parse(turn.expiresAt) <= serverNow()) return false;
    this.apply({
      type: 'heard',
      message: {
        type: 'turn_granted',
        session_token: turn.sessionToken,
        purchase_window_expires_at: turn.expiresAt,
        checkout_url: '',
      },
    });
    return true;
  }

  private apply(event: RoomEvent): void {
    this.state = nextState(this.state, event);
    const { stage } = this.state;
    if (stage.name === 'turn') this.memory.writeTurn(this.matchId, stage);
    if (stage.name === 'over') this.memory.writeTurn(this.matchId, undefined);
    for (const watcher of this.watchers) watcher();
  }
}
