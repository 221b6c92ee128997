import { assertHoldsAllowed } from '#domain/catalog/sale';
import {
  assertNoCooldown,
  countUnpaidHolds,
  NO_UNPAID_HOLDS,
  type CooldownRules,
  type UnpaidHolds,
} from '#domain/purchase/hold-cooldown';
import { assertWindowOpen, assertWithinLimit } from '#domain/purchase/buying-rules';
import { SectorMap } from '#domain/purchase/sector-map';
import { SqlError, type SimulatedDatabase, type SimulatedTransaction } from '#testing/simulation/simulated-database';
import { idempotencyKeys, KeyTaken, withRetries, type SimulatedTransactions } from '#testing/simulation/simulated-transactions';
import type { Reservation } from '../application/ports.ts';
import { SeatHolds, requestedSeats, type HoldOutcome, type HoldRequest } from '../hold/application/ports.ts';
import { asReservation } from './memory-reservations.ts';
import {
  countFan,
  fanAtMatch,
  isFree,
  tables,
  type FanCount,
  type MatchRow,
  type ReservationRow,
  type SeatRow,
  type WindowRow,
} from './memory-tables.ts';
import type { MemoryWaitingRoom } from './memory-waiting-room.ts';

/** Protections of the real adapter. A negative control switches one off. */
export interface HoldGuards {
  /** The database checks that the proposed seats are free. If off, the sector snapshot is trusted. */
  readonly seats: boolean;
  /** The hold fails if the fan's revision has changed since the fan's seats were counted. */
  readonly revision: boolean;
  /** How far the clock that decides about expiry is ahead of the database's clock. 0 is correct. */
  readonly clockAheadMs: number;
}

/** All protections on, as in the real adapter. */
export const ALL_HOLD_GUARDS: HoldGuards = { seats: true, revision: true, clockAheadMs: 0 };

interface Attempt {
  readonly request: HoldRequest;
  readonly reservationId: string;
  readonly seatIds: readonly string[];
  readonly together: boolean;
  readonly fan: FanCount;
  readonly unpaid: UnpaidHolds;
}

interface Facts {
  readonly match: MatchRow | undefined;
  readonly window: (WindowRow & { readonly isOver: boolean }) | undefined;
  readonly takenSeatIds: readonly string[];
  readonly busy: readonly string[];
}

/** What one process believes about the seats of a sector. `seatIds[i]` is the seat with seat index i in `map`. */
interface Snapshot {
  readonly map: SectorMap;
  readonly seatIds: readonly string[];
  readonly inFlight: Set<string>;
  nextExpiryMs: number;
}

const MAX_PROPOSALS = 5;
const NO_SEATS: FanCount = { taken: 0, revision: 0, countedIds: [], unpaid: [], asOfMs: 0 };

/**
 * Simulated `SeatHolds`. Each process proposes seats from its own snapshot, which uses the real `SectorMap` and may show taken
 * seats as free and free seats as taken. Then the simulated database decides with the same steps as the statement HOLD_BATCH
 * (hold-batch.sql.ts), but for one request at a time. Batches of several requests are tested on the real statement.
 */
export class MemorySeatHolds extends SeatHolds {
  private readonly snapshots = new Map<string, Snapshot>();

  constructor(
    private readonly db: SimulatedDatabase,
    private readonly transactions: SimulatedTransactions,
    private readonly waitingRoom: MemoryWaitingRoom,
    private readonly holdMs: number,
    private readonly guards: HoldGuards = ALL_HOLD_GUARDS,
    private readonly cooldown?: CooldownRules,
  ) {
    super();
  }

  async hold(request: HoldRequest): Promise<HoldOutcome> {
    const { scheduler } = this.db;
    const snapshot = await this.snapshot(request.sector.id);
    const reservationId = scheduler.newId('r');
    for (let proposals = 1; ; proposals += 1) {
      const proposal = await this.propose(request);
      for (const seatId of proposal.seatIds) snapshot.inFlight.add(seatId);
      let outcome: Reservation | Facts;
      // The first attempt assumes that the fan has no seats and that the turn is stored. The fan's seats and the turn are read only
      // for later attempts, or when no seat could be proposed.
      const isFanRead = proposals > 1 || proposal.seatIds.length === 0;
      if (isFanRead) await this.waitingRoom.learn(request);
      const fan = isFanRead ? await this.count(request) : NO_SEATS;
      const unpaid = this.cooldown ? countUnpaidHolds(fan.unpaid, this.cooldown, fan.asOfMs) : NO_UNPAID_HOLDS;
      try {
        outcome = await this.commit({ request, reservationId, ...proposal, fan, unpaid });
      } catch (error) {
        this.undoProposal(request.sector.id, proposal.seatIds, []);
        throw error;
      }
      if ('id' in outcome) {
        for (const seatId of proposal.seatIds) snapshot.inFlight.delete(seatId);
        snapshot.nextExpiryMs = Math.min(snapshot.nextExpiryMs, outcome.expiresAt.getTime());
        return { kind: 'held', reservation: outcome };
      }
      const { takenSeatIds, busy } = outcome;
      this.undoProposal(request.sector.id, proposal.seatIds, takenSeatIds);
      if (!isFanRead) continue;
      assertRules({ request, fan, unpaid }, outcome);
      if (proposal.seatIds.length === 0) return { kind: 'none' };
      const isLost = takenSeatIds.length + busy.length > 0;
      if (proposals === MAX_PROPOSALS || (isLost && 'seatIds' in request)) return { kind: 'lost', taken: takenSeatIds, busy };
    }
  }

  /** Reads the sector at the first use in a process, and again when a hold in the snapshot has expired. */
  private async snapshot(sectorId: string): Promise<Snapshot> {
    const known = this.snapshots.get(sectorId);
    if (known && known.nextExpiryMs > this.db.scheduler.nowMs) return known;
    await this.refresh(sectorId);
    const snapshot = this.snapshots.get(sectorId);
    if (!snapshot) throw new Error(`there is no sector ${sectorId}`);
    return snapshot;
  }

  private async refresh(sectorId: string): Promise<void> {
    const now = this.db.scheduler.nowMs;
    const seats = this.db.rows(tables.seats, (seat) => seat.sectorId === sectorId);
    // The simulated step comes after the read, so the seats may be stale when the read returns.
    await this.db.scheduler.step(`reads the seats of ${sectorId}`);
    const snapshot = this.snapshots.get(sectorId) ?? emptySnapshot(seats);
    const known = seats.filter(({ id }) => !snapshot.inFlight.has(id));
    const [free, taken]: [string[], string[]] = [[], []];
    for (const seat of known) (isFree(seat, now) ? free : taken).push(seat.id);
    snapshot.map.markTaken(seatIndexesOf(snapshot, taken));
    snapshot.map.markFree(seatIndexesOf(snapshot, free));
    const held = known.filter((seat) => seat.status === 'held' && !isFree(seat, now));
    snapshot.nextExpiryMs = Math.min(...held.map(({ expiresAtMs }) => expiresAtMs ?? 0));
    this.snapshots.set(sectorId, snapshot);
  }

  private async propose(request: HoldRequest): Promise<{ seatIds: readonly string[]; together: boolean }> {
    const snapshot = await this.snapshot(request.sector.id);
    const { map } = snapshot;
    if ('seatIds' in request) {
      const indices = seatIndexesOf(snapshot, request.seatIds);
      map.markTaken(indices);
      return { seatIds: request.seatIds, together: map.areTogether(indices) };
    }
    // Draw from only two blocks, so that processes often propose the same seats.
    const draw = (): { seatIds: readonly string[]; together: boolean } | undefined => {
      const proposal = map.propose(request.quantity, () => this.db.scheduler.random.next(), 2);
      return proposal && { seatIds: proposal.seats.map((seat) => snapshot.seatIds[seat] ?? ''), together: proposal.together };
    };
    const proposal = draw();
    if (proposal) return proposal;
    await this.refresh(request.sector.id);
    return draw() ?? { seatIds: [], together: true };
  }

  private undoProposal(sectorId: string, seatIds: readonly string[], takenSeatIds: readonly string[]): void {
    const snapshot = this.snapshots.get(sectorId);
    if (!snapshot) return;
    for (const seatId of seatIds) snapshot.inFlight.delete(seatId);
    snapshot.map.markFree(
      seatIndexesOf(
        snapshot,
        seatIds.filter((seatId) => !takenSeatIds.includes(seatId)),
      ),
    );
  }

  private async count(request: HoldRequest): Promise<FanCount> {
    await this.db.scheduler.step(`counts the seats of ${request.userId}`);
    const fan = this.db.read(tables.fanSeats, fanAtMatch(request));
    return countFan(fan, (id) => this.db.read(tables.reservations, id), this.db.scheduler.nowMs);
  }

  private async commit(attempt: Attempt): Promise<Reservation | Facts> {
    try {
      return await withRetries(this.db.scheduler, () => this.statement(attempt));
    } catch (error) {
      const key = this.transactions.currentKey();
      if (key && error instanceof SqlError && error.code === '23505') throw new KeyTaken(key.key);
      throw error;
    }
  }

  /** One statement: `now()` and the database snapshot have the same time. */
  private async statement(attempt: Attempt): Promise<Reservation | Facts> {
    const { scheduler } = this.db;
    await scheduler.step(`asks for ${attempt.seatIds.join(' ') || 'the rules'}`);
    const tx = this.db.begin();
    tx.takeSnapshot();
    try {
      const facts = await this.lockAndCheck(tx, attempt);
      const won = facts === 'permitted' && (await this.write(tx, attempt));
      await tx.commit();
      if (won) return won;
      return facts === 'permitted' ? { ...this.rulesFor(tx, attempt.request), takenSeatIds: [], busy: [] } : facts;
    } catch (error) {
      delete this.transactions.currentKey()?.stored;
      tx.rollback();
      throw error;
    }
  }

  private rulesFor(tx: SimulatedTransaction, { matchId, sessionToken }: HoldRequest): Pick<Facts, 'match' | 'window'> {
    const match = tx.get(tables.matches, matchId);
    const row = match?.queueRequired && sessionToken ? tx.get(tables.windows, sessionToken) : undefined;
    return { match, window: row && { ...row, isOver: row.expiresAtMs <= tx.now.getTime() } };
  }

  private async lockAndCheck(tx: SimulatedTransaction, attempt: Attempt): Promise<Facts | 'permitted'> {
    const { request, seatIds } = attempt;
    const rules = this.rulesFor(tx, request);
    const nothing = { ...rules, takenSeatIds: [], busy: [] };
    try {
      assertRules(attempt, nothing);
    } catch {
      return nothing;
    }
    if (seatIds.length === 0) return nothing;
    const [takenSeatIds, busy]: [string[], string[]] = [[], []];
    const decidedAt = tx.now.getTime() + this.guards.clockAheadMs;
    for (const seatId of [...seatIds].sort()) {
      await tx.statement(`locks seat ${seatId} unless it is locked`);
      const locked = await tx.lockOrSkip(tables.seats, seatId);
      const seat = locked === 'locked' ? tx.get(tables.seats, seatId) : locked;
      if (!seat || (this.guards.seats && !isFree(seat, decidedAt))) takenSeatIds.push(seatId);
      else if (locked === 'locked') busy.push(seatId);
    }
    return takenSeatIds.length + busy.length > 0 ? { ...rules, takenSeatIds, busy } : 'permitted';
  }

  /** Undefined if the fan got seats after the fan's seats were counted. */
  private async write(
    tx: SimulatedTransaction,
    { request, reservationId, seatIds, together, fan, unpaid }: Attempt,
  ): Promise<Reservation | undefined> {
    const { match, window } = this.rulesFor(tx, request);
    const id = fanAtMatch(request);
    await tx.statement(`increases the revision of ${request.userId}`);
    const row = await tx.lock(tables.fanSeats, id);
    if (row && row.revision !== fan.revision && this.guards.revision) return undefined;
    await tx.put(tables.fanSeats, id, {
      revision: fan.revision + 1,
      reservationIds: [...fan.countedIds, reservationId],
      unpaidIds: unpaid.remaining.map((hold) => hold.id),
      unpaidFromMs: unpaid.countFromMs ?? row?.unpaidFromMs,
    });
    const expiresAtMs = Math.min(tx.now.getTime() + this.holdMs, window?.expiresAtMs ?? Number.POSITIVE_INFINITY);
    const key = this.transactions.currentKey();
    const reservation: ReservationRow = {
      id: reservationId,
      matchId: request.matchId,
      sectorId: request.sector.id,
      sector: request.sector.name,
      userId: request.userId,
      sessionToken: match?.queueRequired ? (request.sessionToken ?? null) : null,
      invitationId: null,
      status: 'held',
      together,
      seatIds,
      priceCents: request.sector.priceCents,
      currency: request.sector.currency,
      expiresAtMs,
      heldAtMs: tx.now.getTime(),
      swept: false,
      countedAtMs: row ? fan.asOfMs : tx.now.getTime(),
      heldWithKey: this.transactions.requestKey() ?? null,
    };
    const made = asReservation(reservation, this.db, tx.now);
    if (key) {
      await tx.statement(`stores key ${key.key} with its answer`);
      key.stored = key.render(made as never);
      await tx.insertNew(idempotencyKeys, key.key, { key: key.key, userId: key.userId, answer: key.stored });
    }
    await tx.put(tables.reservations, reservationId, reservation);
    for (const seatId of seatIds) await tx.change(tables.seats, seatId, { status: 'held', reservationId, expiresAtMs });
    this.db.scheduler.registerExpiry(expiresAtMs);
    return made;
  }
}

function emptySnapshot(seats: readonly SeatRow[]): Snapshot {
  const inOrder = [...seats].sort((a, b) => a.rowIndex - b.rowIndex || (a.number ?? a.rank) - (b.number ?? b.rank));
  const seatIds = inOrder.map(({ id }) => id);
  return { map: new SectorMap(inOrder), seatIds, inFlight: new Set(), nextExpiryMs: Number.POSITIVE_INFINITY };
}

function seatIndexesOf(snapshot: Snapshot, seatIds: readonly string[]): readonly number[] {
  return seatIds.map((seatId) => snapshot.seatIds.indexOf(seatId));
}

/** Throws the domain's error for the first broken rule: sale, then turn, then cooldown, then ticket limit. */
function assertRules({ request, fan, unpaid }: Pick<Attempt, 'request' | 'fan' | 'unpaid'>, { match, window }: Facts): void {
  if (!match) throw new Error(`there is no match ${request.matchId}`);
  const { saleStatus, queueRequired, maxTicketsPerFan: limit } = match;
  assertHoldsAllowed({ saleStatus, opensAt: null, queueRequired });
  if (queueRequired) assertWindowOpen(window, request);
  assertNoCooldown(unpaid.cooldownEndsAtMs, fan.asOfMs);
  assertWithinLimit({ limit, taken: fan.taken, wanted: requestedSeats(request) });
}
