import type { Transaction } from '#application/transaction-manager';
import type { SimulatedDatabase } from '#testing/simulation/simulated-database';
import { inside } from '#testing/simulation/simulated-transactions';
import {
  StreamCursors,
  WaitingRoomConsequences,
  WaitingRoomEvents,
  type WaitingRoomEvent,
} from '../turns/application/waiting-room-ports.ts';
import { tables } from './memory-tables.ts';

const STREAM_START = '0';

/**
 * The simulated waiting room: its event stream and its hash of granted turns. They are not in the database, so they are never
 * rolled back.
 */
export class MemoryWaitingRoom extends WaitingRoomEvents {
  private readonly log: WaitingRoomEvent[] = [];
  private readonly turns = new Map<string, { sessionToken: string; expiresAtMs: number }>();

  constructor(private readonly db: SimulatedDatabase) {
    super();
  }

  grant(turn: { matchId: string; userId: string; sessionToken: string; expiresAtMs: number }): void {
    const { expiresAtMs, ...rest } = turn;
    this.turns.set(turn.userId, { sessionToken: turn.sessionToken, expiresAtMs });
    this.log.push({
      kind: 'turn granted',
      ...rest,
      expiresAt: new Date(expiresAtMs).toISOString(),
      generation: undefined,
      placeScore: undefined,
    });
    this.db.scheduler.registerExpiry(expiresAtMs);
  }

  end(turn: { matchId: string; userId: string; sessionToken: string; reason: string }): void {
    this.turns.delete(turn.userId);
    this.log.push({ kind: 'turn ended', ...turn });
  }

  get length(): number {
    return this.log.length;
  }

  matches(): Promise<readonly string[]> {
    return Promise.resolve([...new Set(this.log.map(({ matchId }) => matchId))]);
  }

  hasAfter(_matchId: string, streamId: string): Promise<boolean> {
    return Promise.resolve(this.log.length > Number(streamId));
  }

  async readAfter(
    matchId: string,
    streamId: string,
    limit: number,
  ): Promise<{ events: readonly WaitingRoomEvent[]; lastId: string }> {
    await this.db.scheduler.step(`reads the stream of ${matchId} after ${streamId}`);
    const events = this.log.slice(Number(streamId), Number(streamId) + limit);
    return { events, lastId: String(Number(streamId) + events.length) };
  }

  /** Like PostgresPurchaseWindows: stores a turn that the waiting room has granted, if the event about it was not applied yet. */
  async learn({
    userId,
    matchId,
    sessionToken,
  }: {
    userId: string;
    matchId: string;
    sessionToken: string | undefined;
  }): Promise<void> {
    if (!sessionToken) return;
    await this.db.scheduler.step(`reads turn ${sessionToken}`);
    if (this.db.read(tables.windows, sessionToken)) return;
    await this.db.scheduler.step(`asks the waiting room for the turn of ${userId}`);
    const turn = this.turns.get(userId);
    if (turn?.sessionToken !== sessionToken) return;
    const tx = this.db.begin('read committed');
    try {
      await tx.statement(`stores turn ${sessionToken}`);
      const row = { sessionToken, matchId, userId, expiresAtMs: turn.expiresAtMs, endReason: null };
      await tx.insert(tables.windows, sessionToken, row);
      await tx.commit();
    } catch (error) {
      tx.rollback();
      throw error;
    }
  }
}

/** Up to which event each event stream of the waiting room is applied, in the simulated database. */
export class MemoryStreamCursors extends StreamCursors {
  constructor(
    private readonly db: SimulatedDatabase,
    /** Protection of the real adapter. If a negative control switches it off, every replica that has read events applies them. */
    private readonly comparesPosition = true,
  ) {
    super();
  }

  async position(matchId: string): Promise<string> {
    await this.db.scheduler.step(`reads the cursor of ${matchId}`);
    return this.db.read(tables.cursors, matchId)?.lastId ?? STREAM_START;
  }

  async advance(tx: Transaction, matchId: string, from: string, to: string): Promise<boolean> {
    await inside(tx).statement(`moves the cursor of ${matchId} from ${from} to ${to}`);
    const row = await inside(tx).lock(tables.cursors, matchId);
    if (row && row.lastId !== from && this.comparesPosition) return false;
    await inside(tx).put(tables.cursors, matchId, { lastId: to });
    return true;
  }
}

/** Stores turns in the simulated database and writes one push message for each granted turn. */
export class MemoryWaitingRoomConsequences extends WaitingRoomConsequences {
  constructor(private readonly db: SimulatedDatabase) {
    super();
  }

  async apply(tx: Transaction, events: readonly WaitingRoomEvent[]): Promise<void> {
    const open = inside(tx);
    for (const event of events) {
      await open.statement(`applies "${event.kind}"`);
      if (event.kind === 'turn granted') {
        const { sessionToken, matchId, userId } = event;
        const expiresAtMs = Date.parse(event.expiresAt);
        await open.insert(tables.windows, sessionToken, { sessionToken, matchId, userId, expiresAtMs, endReason: null });
        const id = this.db.scheduler.newId('message');
        await open.put(tables.outbox, id, { id, event: 'queue.turn_granted', aggregateId: sessionToken });
      }
      if (event.kind === 'turn ended' && event.sessionToken) {
        const window = open.get(tables.windows, event.sessionToken);
        if (window?.endReason === null) await open.change(tables.windows, event.sessionToken, { endReason: event.reason });
      }
    }
  }
}
