import type { Transaction } from '#application/transaction-manager';
import type { SimulatedDatabase } from '#testing/simulation/simulated-database';
import { inside } from '#testing/simulation/simulated-transactions';
import {
  StreamCursors,
  WaitingRoomConsequences,
  WaitingRoomEvents,
  type WaitingRoomEvent,
} from '../turns/application/waiting-room-ports.ts';
import { fanAtMatch, tables, type WindowRow } from './memory-tables.ts';

/** The turn that a hold request names. */
interface PresentedTurn {
  readonly matchId: string;
  readonly userId: string;
  readonly sessionToken: string | undefined;
}

/** The id of an event is its number in the stream of its match. */
const streamId = (number: number): string => `${number}-0`;
const numberOf = (id: string): number => Number.parseInt(id, 10);

/**
 * The simulated waiting room: the event stream and the granted turns of each match. They are not in the database, so they are never
 * rolled back.
 */
export class MemoryWaitingRoom extends WaitingRoomEvents {
  private readonly streams = new Map<string, readonly WaitingRoomEvent[]>();
  private readonly turns = new Map<string, { sessionToken: string; expiresAtMs: number }>();

  constructor(private readonly db: SimulatedDatabase) {
    super();
  }

  grant({ expiresAtMs, ...turn }: { matchId: string; userId: string; sessionToken: string; expiresAtMs: number }): void {
    this.turns.set(fanAtMatch(turn), { sessionToken: turn.sessionToken, expiresAtMs });
    const expiresAt = new Date(expiresAtMs).toISOString();
    this.add({ kind: 'turn granted', ...turn, expiresAt, generation: undefined, placeScore: undefined });
    this.db.scheduler.registerExpiry(expiresAtMs);
  }

  end(turn: { matchId: string; userId: string; sessionToken: string; reason: string }): void {
    this.turns.delete(fanAtMatch(turn));
    this.add({ kind: 'turn ended', ...turn });
  }

  matches(): Promise<readonly string[]> {
    return Promise.resolve([...this.streams.keys()]);
  }

  hasAfter(matchId: string, id: string): Promise<boolean> {
    return Promise.resolve(this.stream(matchId).length > numberOf(id));
  }

  async readAfter(matchId: string, id: string, limit: number): Promise<{ events: readonly WaitingRoomEvent[]; lastId: string }> {
    await this.db.scheduler.step(`reads the stream of ${matchId} after ${id}`);
    const events = this.stream(matchId).slice(numberOf(id), numberOf(id) + limit);
    return { events, lastId: streamId(numberOf(id) + events.length) };
  }

  /** Like PostgresPurchaseWindows: stores a turn that the waiting room has granted, if the event about it was not applied yet. */
  async learn({ userId, matchId, sessionToken }: PresentedTurn): Promise<void> {
    if (!sessionToken) return;
    await this.db.scheduler.step(`reads turn ${sessionToken}`);
    if (this.db.read(tables.windows, sessionToken)) return;
    await this.db.scheduler.step(`asks the waiting room for the turn of ${userId}`);
    const turn = this.turns.get(fanAtMatch({ matchId, userId }));
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

  private add(event: WaitingRoomEvent): void {
    this.streams.set(event.matchId, [...this.stream(event.matchId), event]);
  }

  private stream(matchId: string): readonly WaitingRoomEvent[] {
    return this.streams.get(matchId) ?? [];
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
    return this.db.read(tables.cursors, matchId)?.lastId ?? streamId(0);
  }

  async advance(tx: Transaction, matchId: string, from: string, to: string): Promise<boolean> {
    await inside(tx).statement(`moves the cursor of ${matchId} from ${from} to ${to}`);
    const row = await inside(tx).lock(tables.cursors, matchId);
    if (row && row.lastId !== from && this.comparesPosition) return false;
    await inside(tx).put(tables.cursors, matchId, { lastId: to });
    return true;
  }
}

/** Stores turns in the simulated database and writes one push for each granted turn, as if each fan had a device. */
export class MemoryWaitingRoomConsequences extends WaitingRoomConsequences {
  constructor(private readonly db: SimulatedDatabase) {
    super();
  }

  async apply(tx: Transaction, events: readonly WaitingRoomEvent[]): Promise<void> {
    const open = inside(tx);
    for (const event of events) {
      await open.statement(`applies "${event.kind}"`);
      if (event.kind === 'turn granted') {
        if (event.generation !== undefined)
          throw new Error('the simulation restores no waiting room, so it knows no generations');
        const { sessionToken, matchId, userId } = event;
        const expiresAtMs = Date.parse(event.expiresAt);
        await open.insert(tables.windows, sessionToken, { sessionToken, matchId, userId, expiresAtMs, endReason: null });
        const id = this.db.scheduler.newId('message');
        await open.put(tables.outbox, id, { id, event: 'queue.turn_granted', aggregateId: sessionToken });
      }
      if (event.kind === 'turn ended') {
        const isEnded = (row: WindowRow): boolean =>
          row.endReason === null &&
          fanAtMatch(row) === fanAtMatch(event) &&
          row.sessionToken === (event.sessionToken ?? row.sessionToken);
        for (const { sessionToken } of open.find(tables.windows, isEnded))
          await open.change(tables.windows, sessionToken, { endReason: event.reason });
      }
    }
  }
}
