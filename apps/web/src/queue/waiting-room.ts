import type { PositionAnswer } from '#contracts/waiting-room';
import { type ConnectionEnd, QueueConnection } from '../../../../libs/queue-client/src/queue-connection.ts';
import { positionAsMessage } from '../../../../libs/queue-client/src/queue-messages.ts';
import { toProblem, Problem } from '../api/problem.ts';
import { serverNow } from '../api/server-clock.ts';
import type { TribinaApi } from '../api/tribina-api.ts';
import type { PurchaseStore } from '../purchase-store.ts';
import { initialRoomState, nextState, type RoomEvent, type RoomState } from './room-state.ts';
import { onWake } from './on-wake.ts';

/**
 * After this many automatic rejoins in a row the fan must press a button. Otherwise rejoining would never end when the server
 * rejects each new queue token.
 */
const maxRejoinsInARow = 3;

/** One fan's access to the line of one match: joins, leaves, and keeps a connection while the fan has a queue entry or a turn. */
export class WaitingRoom {
  private state: RoomState = initialRoomState;
  private readonly subscribers = new Set<() => void>();
  private connection: QueueConnection | undefined;
  private rejoinTimer: ReturnType<typeof setTimeout> | undefined;
  private rejoins = 0;

  constructor(
    private readonly matchId: string,
    private readonly api: TribinaApi,
    private readonly purchaseStore: PurchaseStore,
  ) {}

  readonly snapshot = (): RoomState => this.state;

  readonly subscribe = (subscriber: () => void): (() => void) => {
    this.subscribers.add(subscriber);
    return () => this.subscribers.delete(subscriber);
  };

  /** Reads whether the fan is already in line, perhaps from another device. Never joins. */
  readonly checkEntry = async (signal?: AbortSignal): Promise<void> => {
    try {
      const entry = await this.api.queueEntry(this.matchId, signal);
      if (!signal?.aborted) this.applyEntry(entry);
    } catch (caught) {
      if (signal?.aborted) return;
      const problem = toProblem(caught);
      if (this.resumeKnownTurn()) return;
      this.apply(problem.status === 404 ? { type: 'not_in_line' } : { type: 'request_failed', problem });
    }
  };

  readonly join = async (): Promise<void> => {
    clearTimeout(this.rejoinTimer);
    this.apply({ type: 'request_started' });
    try {
      this.applyEntry(await this.joinWithReceipt());
    } catch (caught) {
      this.apply({ type: 'request_failed', problem: toProblem(caught) });
    }
  };

  readonly leave = async (): Promise<void> => {
    this.apply({ type: 'request_started' });
    try {
      await this.api.leaveQueue(this.matchId);
      this.disconnect();
      this.purchaseStore.update(this.matchId, { receipt: undefined });
      this.apply({ type: 'connection_ended', reason: 'left' });
    } catch (caught) {
      this.apply({ type: 'request_failed', problem: toProblem(caught) });
    }
  };

  /**
   * Called when a session token was refused or has expired: forgets the stored turn and reads the current state from the queue
   * service.
   */
  readonly recheckTurn = (): void => {
    this.purchaseStore.writeTurn(this.matchId, undefined);
    void this.checkEntry();
  };

  readonly disconnect = (): void => {
    clearTimeout(this.rejoinTimer);
    this.connection?.stop();
    this.connection = undefined;
  };

  private async joinWithReceipt(): Promise<PositionAnswer> {
    const { receipt } = this.purchaseStore.read(this.matchId);
    try {
      return await this.api.joinQueue(this.matchId, receipt);
    } catch (caught) {
      // The receipt belongs to an earlier line and is no longer valid, so the fan joins at the end of the line.
      if (!receipt || !(caught instanceof Problem) || caught.code !== 'VALIDATION_FAILED') throw caught;
      this.purchaseStore.update(this.matchId, { receipt: undefined });
      return this.api.joinQueue(this.matchId);
    }
  }

  private applyEntry(entry: PositionAnswer): void {
    this.disconnect();
    if (entry.receipt) this.purchaseStore.update(this.matchId, { receipt: entry.receipt });
    this.apply({ type: 'message_received', message: positionAsMessage(entry) });
    const inside = entry.status === 'waiting' || entry.status === 'granted';
    if (!inside || !entry.websocket_url || !entry.sse_url) return;
    const connection = new QueueConnection(
      {
        websocketUrl: entry.websocket_url,
        sseUrl: entry.sse_url,
        readPosition: (signal) => this.api.queueEntry(this.matchId, signal),
      },
      {
        message: (message) => {
          this.rejoins = 0;
          this.apply({ type: 'message_received', message });
        },
        link: (link) => this.apply({ type: 'link_changed', link }),
        over: (reason) => this.onConnectionEnded(reason),
      },
      { onWake },
    );
    this.connection = connection;
    connection.start();
  }

  private onConnectionEnded(reason: ConnectionEnd): void {
    this.connection = undefined;
    if (reason === 'ended') return;
    if (reason !== 'rejoin') return this.apply({ type: 'connection_ended', reason });
    if (this.rejoins >= maxRejoinsInARow) return this.apply({ type: 'connection_ended', reason: 'refused' });
    this.rejoins += 1;
    this.rejoinTimer = setTimeout(() => void this.join(), Math.random() * 1000 * 2 ** this.rejoins);
  }

  /**
   * Continues a stored turn that has not expired. The monolith accepts its session token even if the queue service is down or has
   * lost the turn (CONTRACT §6).
   */
  private resumeKnownTurn(): boolean {
    const turn = this.purchaseStore.readTurn(this.matchId);
    if (!turn || Date.parse(turn.expiresAt) <= serverNow()) return false;
    this.apply({
      type: 'message_received',
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
    if (stage.name === 'turn') this.purchaseStore.writeTurn(this.matchId, stage);
    if (stage.name === 'ended') this.purchaseStore.writeTurn(this.matchId, undefined);
    for (const subscriber of this.subscribers) subscriber();
  }
}
