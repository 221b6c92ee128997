import { MIN_BLOCKS_TO_DRAW_FROM, type SectorMap, type Proposal, type SectorShare } from '#domain/purchase/sector-map';
import type { LRUCache } from 'lru-cache';
import { FREE, type SeatStates, type SectorSeats } from './sector-seats.sql.ts';

/** A stale snapshot is refreshed at most once in this time. Still, seats of an expired hold are for sale again within a second. */
const MIN_REFRESH_INTERVAL_MS = 400;
/**
 * After a proposal was lost to another process, refresh after this time: this process does not know how long the seats are held.
 */
const CHECK_OTHERS_AFTER_MS = 10_000;
/**
 * A proposal is drawn from several good blocks. A proposal lost to another process doubles their number; each hold takes 0.2 % off.
 */
const MAX_BLOCKS_TO_DRAW_FROM = 384;
const DRAW_DECAY = 0.998;

/** State of a seat that no current batch has proposed: the map says whether it is free or taken. */
const SETTLED = 0;
/** State of a seat that a batch has proposed and not decided yet. A refresh that was read meanwhile does not change this seat. */
const PROPOSED = 1;
/** State of a proposed seat of which another process has broadcast meanwhile that it took the seat. */
const PROPOSED_BUT_TAKEN = 2;

/**
 * What this process believes about the seats of one sector. It is only a hint: the snapshot proposes seats, and the database
 * decides.
 *
 *            propose               held
 *     FREE ───────────▶ PROPOSED ───────▶ TAKEN
 *      ▲                   │                ▲
 *      └───────────────────┴────────────────┘
 *        notHeld: free again     notHeld: has an owner; or another process took it
 *
 * `refresh` corrects the snapshot from the database: when a hold has expired, when the snapshot was wrong, or when it has too few
 * free seats. Proposals need not wait for it: what happens to seats while it reads is newer than its result. A seat is named by its index in the sector; seat ids are for the database and for clients.
 */
export class SectorSnapshot {
  private readonly states: Uint8Array;
  private readonly indexOf: ReadonlyMap<string, number>;
  private ctids: readonly string[] = [];
  private refreshing: Promise<void> | undefined;
  private refreshedAt = 0;
  /** True if a broadcast was lost since the last refresh began. */
  isDoubtful = false;
  private nextExpiryAt = Number.POSITIVE_INFINITY;
  private drawFrom = MIN_BLOCKS_TO_DRAW_FROM;
  /** Seats that were decided, or taken elsewhere, while a refresh was reading: for them its result is too old. */
  private readonly newerThanRead = new Set<number>();
  /** Seats that move to a quota now. */
  private moving: ReadonlySet<number> = new Set();
  private movingUntil = 0;

  constructor(
    readonly map: SectorMap,
    private readonly seats: Pick<SectorSeats, 'ids' | 'rows' | 'numbers'>,
    private readonly read: () => Promise<SeatStates>,
  ) {
    this.states = new Uint8Array(seats.ids.length);
    this.indexOf = new Map(seats.ids.map((seatId, seatIndex) => [seatId, seatIndex]));
  }

  idOf(seatIndex: number): string {
    return this.seats.ids[seatIndex]!;
  }

  seatAt(seatIndex: number): { readonly seatId: string; readonly row: string | null; readonly number: number | null } {
    const { ids, rows, numbers } = this.seats;
    return { seatId: ids[seatIndex]!, row: rows[seatIndex] ?? null, number: numbers[seatIndex] ?? null };
  }

  /** Where PostgreSQL kept the seat's row at the last refresh. Every change of the row moves it. */
  ctidOf(seatIndex: number): string | null {
    return this.ctids[seatIndex] ?? null;
  }

  /** The indices of these seats. Throws if a seat is not in this sector. */
  indicesOf(seatIds: readonly string[]): readonly number[] {
    return seatIds.map((seatId) => {
      const seatIndex = this.indexOf.get(seatId);
      if (seatIndex === undefined) throw new Error(`seat ${seatId} is not in the sector it was said to be in`);
      return seatIndex;
    });
  }

  /** True if the snapshot needs a refresh: a hold has expired, seats became free, or a broadcast was lost. */
  isStale(now: number): boolean {
    return now >= this.nextExpiryAt && now - this.refreshedAt >= MIN_REFRESH_INTERVAL_MS;
  }

  /** Refreshes the snapshot while proposals go on. Without the database it stays stale. */
  refreshBeside(): void {
    if (!this.refreshing) void this.refresh().catch(() => undefined);
  }

  /**
   * Reads the seats from the database. One refresh runs at a time: calls during a refresh wait for it and then share the next one.
   */
  async refresh(): Promise<void> {
    if (this.refreshing) await this.refreshing.catch(() => undefined);
    this.refreshing ??= this.readAndApply().finally(() => (this.refreshing = undefined));
    await this.refreshing;
  }

  /** Proposes a block of seats, drawn from several good blocks. Undefined when too few seats are free. */
  propose(quantity: number, random: () => number, share?: SectorShare): Proposal | undefined {
    const proposal = this.map.propose(quantity, random, Math.floor(this.drawFrom), share);
    if (proposal) this.setStates(proposal.seats, PROPOSED);
    return proposal;
  }

  /** Marks seats that the fan chose as proposed. */
  proposeChosen(seats: readonly number[]): void {
    this.map.markTaken(seats);
    this.setStates(seats, PROPOSED);
  }

  /** Returns those of the seats that a batch has proposed and not decided yet. */
  beingDecided(seats: readonly number[]): readonly number[] {
    return seats.filter((seatIndex) => this.states[seatIndex] !== SETTLED);
  }

  /** Call this when the proposal succeeded: the seats are held until `expiresAtMs`. */
  held(seats: readonly number[], expiresAtMs: number): void {
    this.setStates(seats, SETTLED);
    this.drawFrom = Math.max(MIN_BLOCKS_TO_DRAW_FROM, this.drawFrom * DRAW_DECAY);
    this.nextExpiryAt = Math.min(this.nextExpiryAt, expiresAtMs);
  }

  /**
   * Call this when the proposal failed. Seats with an owner (ids in `gone`) stay taken, the other proposed seats are free again.
   */
  notHeld(seats: readonly number[], gone: readonly string[], isContended = gone.length > 0): void {
    const free = seats.filter(
      (seat) => this.states[seat] !== PROPOSED_BUT_TAKEN && !this.moving.has(seat) && !gone.includes(this.idOf(seat)),
    );
    this.setStates(seats, SETTLED);
    if (isContended) this.drawFrom = Math.min(MAX_BLOCKS_TO_DRAW_FROM, this.drawFrom * 2);
    this.map.markFree(free);
    if (gone.length > 0) this.nextExpiryAt = Math.min(this.nextExpiryAt, this.refreshedAt + CHECK_OTHERS_AFTER_MS);
  }

  /**
   * Call this when another process broadcasts that it took seats. For seats that this process has proposed, the database decides.
   */
  takenElsewhere(seatIds: readonly string[], untilMs: number): void {
    const seats = seatIds.flatMap((seatId) => this.indexOf.get(seatId) ?? []);
    this.map.markTaken(seats);
    this.noteNewer(seats);
    for (const seat of seats) if (this.states[seat] === PROPOSED) this.states[seat] = PROPOSED_BUT_TAKEN;
    this.nextExpiryAt = Math.min(this.nextExpiryAt, untilMs);
  }

  /**
   * Call this when free seats are about to move to a quota. Until the move is over they are free in the database, but locked: they are
   * not proposed, also after a refresh.
   */
  movingToQuota(seatIds: readonly string[], untilMs: number): void {
    this.moving = new Set([...this.moving, ...seatIds.flatMap((seatId) => this.indexOf.get(seatId) ?? [])]);
    this.movingUntil = untilMs;
    this.map.markTaken(this.moving);
    this.nextExpiryAt = Math.min(this.nextExpiryAt, untilMs);
  }

  /** Call this when seats became free, or a move to a quota is over: the snapshot needs a refresh. */
  changed(): void {
    this.moving = new Set();
    this.nextExpiryAt = 0;
  }

  /** Call this when a broadcast was lost: any seat may be taken, so the snapshot needs a refresh before it proposes more. */
  broadcastLost(): void {
    this.isDoubtful = true;
    this.nextExpiryAt = 0;
  }

  apply({ letters, ctids, nextExpiryMs }: SeatStates): void {
    this.refreshedAt = Date.now();
    this.ctids = ctids;
    const [free, taken]: [number[], number[]] = [[], []];
    for (const [seatIndex, state] of this.states.entries())
      if (state === SETTLED && !this.newerThanRead.has(seatIndex)) (letters[seatIndex] === FREE ? free : taken).push(seatIndex);
    if (this.refreshedAt >= this.movingUntil) this.moving = new Set();
    this.map.markTaken(taken);
    this.map.markFree(free);
    this.map.markTaken(this.moving);
    const moveEnd = this.moving.size > 0 ? this.movingUntil : Number.POSITIVE_INFINITY;
    this.nextExpiryAt = Math.min(this.nextExpiryAt, nextExpiryMs ?? Number.POSITIVE_INFINITY, moveEnd);
  }

  private setStates(seats: readonly number[], state: number): void {
    for (const seatIndex of seats) this.states[seatIndex] = state;
    this.noteNewer(seats);
  }

  private noteNewer(seats: readonly number[]): void {
    if (this.refreshing) for (const seatIndex of seats) this.newerThanRead.add(seatIndex);
  }

  private async readAndApply(): Promise<void> {
    const { nextExpiryAt, isDoubtful } = this;
    // Expiries and changes that are reported from now on may be missing in what is read.
    this.nextExpiryAt = Number.POSITIVE_INFINITY;
    this.isDoubtful = false;
    this.newerThanRead.clear();
    try {
      this.apply(await this.read());
    } catch (error) {
      this.nextExpiryAt = Math.min(this.nextExpiryAt, nextExpiryAt);
      this.isDoubtful ||= isDoubtful;
      throw error;
    }
  }
}

/** The snapshots of this process, by sector. `forceFetch` loads a missing one; calls for the same sector share the load. */
export type SectorSnapshots = LRUCache<string, SectorSnapshot>;
